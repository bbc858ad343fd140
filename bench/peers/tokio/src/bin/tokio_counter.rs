// bench/peers/tokio/src/bin/tokio_counter.rs: a counter behind tokio's mutex, incremented 10^9 times by 1000 tasks, on one thread.
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Mutex;

const ALL: u64 = 1_000_000_000;
const TASKS: u64 = 1_000;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let counter = Arc::new(Mutex::new(0u64));
    let began = Instant::now();
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let counter = counter.clone();
            tokio::spawn(async move {
                for _ in 0..ALL / TASKS {
                    *counter.lock().await += 1;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let took = began.elapsed().as_secs_f64();
    assert_eq!(*counter.lock().await, ALL);
    println!("increments/s: {:.0}", ALL as f64 / took);
}
