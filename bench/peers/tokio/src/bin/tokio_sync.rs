// bench/peers/tokio/src/bin/tokio_sync.rs: the same with tokio on one thread. It has no generators.
use std::time::Instant;
use tokio::sync::{mpsc, oneshot, Mutex, Semaphore};

macro_rules! report {
    ($name:literal, $body:expr) => {{
        let (mut repetitions, mut rounds, mut best) = (100u64, 0, f64::MAX);
        while rounds < 3 {
            let start = Instant::now();
            $body(repetitions).await;
            let took = start.elapsed().as_nanos() as f64;
            if took < 30e6 {
                repetitions *= if took < 3e6 { 8 } else { 2 };
                continue;
            }
            rounds += 1;
            best = best.min(took / repetitions as f64);
        }
        println!("{}\t{:.2}", $name, best);
    }};
}

async fn mutex(n: u64) {
    let m = Mutex::new(());
    for _ in 0..n {
        drop(m.lock().await);
    }
}

async fn mutex_hand_over(n: u64) {
    let m = Mutex::new(());
    let take_turns = || async {
        for _ in 0..n / 2 {
            let _guard = m.lock().await;
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(take_turns(), take_turns());
}

async fn semaphore(n: u64) {
    let s = Semaphore::new(1);
    for _ in 0..n {
        drop(s.acquire().await.unwrap());
    }
}

async fn hand_over(capacity: usize, n: u64) {
    let (sender, mut receiver) = mpsc::channel::<i32>(capacity);
    let sending = tokio::spawn(async move {
        for i in 0..n {
            sender.send(i as i32).await.unwrap();
        }
    });
    for _ in 0..n {
        receiver.recv().await.unwrap();
    }
    sending.await.unwrap();
}

async fn queue(n: u64) {
    let (sender, mut receiver) = mpsc::channel::<i32>(8);
    for _ in 0..n {
        sender.send(1).await.unwrap();
        receiver.recv().await.unwrap();
    }
}

async fn oneshots(n: u64) {
    for _ in 0..n {
        let (sender, receiver) = oneshot::channel::<i32>();
        sender.send(1).unwrap();
        receiver.await.unwrap();
    }
}

async fn yields(n: u64) {
    for _ in 0..n {
        tokio::task::yield_now().await;
    }
}

async fn spawn(n: u64) {
    for _ in 0..n {
        tokio::spawn(async { 1 }).await.unwrap();
    }
}

async fn to_thread(n: u64) {
    for _ in 0..n {
        tokio::task::spawn_blocking(|| {}).await.unwrap();
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    report!("mutex", mutex);
    report!("mutex_hand_over", mutex_hand_over);
    report!("semaphore", semaphore);
    report!("channel_64", |n| hand_over(64, n));
    report!("channel_1", |n| hand_over(1, n));
    report!("queue", queue);
    report!("oneshot", oneshots);
    report!("yield", yields);
    report!("spawn", spawn);
    report!("to_thread", to_thread);
}
