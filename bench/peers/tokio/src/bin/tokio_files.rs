// bench/peers/tokio/src/bin/tokio_files.rs: the same with tokio::fs. Usage: tokio_files FILE
use std::io::SeekFrom;
use std::time::Instant;
use tokio::fs::{File, OpenOptions};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

const FILE_SIZE: u64 = 64 << 20;
const LARGE: usize = 65536;
const SMALL: usize = 4096;

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

async fn open(path: &str) -> File {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).await.unwrap()
}

async fn sequential(path: &str, writes: bool, n: u64) {
    let mut file = open(path).await;
    let mut buffer = vec![0u8; LARGE];
    for i in 0..n {
        if i % (FILE_SIZE / LARGE as u64) == 0 {
            file.seek(SeekFrom::Start(0)).await.unwrap();
        }
        if writes {
            file.write_all(&buffer).await.unwrap();
        } else {
            file.read_exact(&mut buffer).await.unwrap();
        }
    }
    file.flush().await.unwrap();
}

// tokio::fs has no reads at offsets: it seeks.
async fn random_access(path: &str, writes: bool, seed: u64, n: u64) {
    let mut file = open(path).await;
    let mut buffer = vec![0u8; SMALL];
    let mut state = seed;
    for _ in 0..n {
        state = state * 48271 % 2147483647;
        let offset = state % (FILE_SIZE / SMALL as u64) * SMALL as u64;
        file.seek(SeekFrom::Start(offset)).await.unwrap();
        if writes {
            file.write_all(&buffer).await.unwrap();
        } else {
            file.read_exact(&mut buffer).await.unwrap();
        }
    }
    file.flush().await.unwrap();
}

async fn random_by_16(path: &str, writes: bool, n: u64) {
    let tasks: Vec<_> = (1..=16u64)
        .map(|seed| {
            let path = path.to_string();
            tokio::spawn(async move { random_access(&path, writes, seed, n / 16).await })
        })
        .collect();
    for each in tasks {
        each.await.unwrap();
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let path = std::env::args().nth(1).expect("usage: tokio_files FILE");
    report!("write_64k", |n| sequential(&path, true, n));
    sequential(&path, true, FILE_SIZE / LARGE as u64).await;
    report!("read_64k", |n| sequential(&path, false, n));
    report!("read_4k_random", |n| random_access(&path, false, 1, n));
    report!("write_4k_random", |n| random_access(&path, true, 1, n));
    report!("read_4k_random_by_16", |n| random_by_16(&path, false, n));
    report!("write_4k_random_by_16", |n| random_by_16(&path, true, n));
}
