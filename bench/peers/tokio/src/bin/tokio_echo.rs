// bench/peers/tokio/src/bin/tokio_echo.rs: tokio, for comparison: echo.
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn serve(mut peer: TcpStream) {
    let size = std::env::var("BENCH_BUFFER").map_or(4096, |wanted| wanted.parse().unwrap());
    let mut buffer = vec![0u8; size];
    loop {
        match peer.read(&mut buffer).await {
            Ok(n) if n > 0 => {
                if peer.write_all(&buffer[..n]).await.is_err() {
                    return;
                }
            }
            _ => return,
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    eprintln!("listening on {} (tokio)", listener.local_addr().unwrap());
    loop {
        let (peer, _) = listener.accept().await.unwrap();
        peer.set_nodelay(true).unwrap();
        tokio::spawn(serve(peer));
    }
}
