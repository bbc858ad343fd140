// hyper_requests: GET requests by hyper's client with its pool. Arguments: PORT CONNECTIONS SECONDS.
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use std::time::{Duration, Instant};

fn used() -> (f64, f64) {
    let mut all: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut all) };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    (seconds(all.ru_utime), seconds(all.ru_stime))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let connections: usize = arguments[2].parse().unwrap();
    let limit: f64 = arguments[3].parse().unwrap();
    let url: hyper::Uri = format!("http://127.0.0.1:{}/", arguments[1]).parse().unwrap();
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let begin = Instant::now();
    let end = begin + Duration::from_secs_f64(limit);
    let mut all = Vec::new();
    for _ in 0..connections {
        let (client, url) = (client.clone(), url.clone());
        all.push(tokio::spawn(async move {
            let mut requests = 0u64;
            while Instant::now() < end {
                let mut response = client.get(url.clone()).await.unwrap();
                let mut size = 0;
                while let Some(frame) = response.body_mut().frame().await {
                    size += frame.unwrap().data_ref().map_or(0, |data| data.len());
                }
                assert_eq!(size, 13);
                requests += 1;
            }
            requests
        }));
    }
    let mut requests = 0;
    for each in all {
        requests += each.await.unwrap();
    }
    let (user, system) = used();
    println!(
        "{{\"requests\": {}, \"seconds\": {}, \"user\": {}, \"system\": {}}}",
        requests,
        begin.elapsed().as_secs_f64(),
        user,
        system
    );
}
