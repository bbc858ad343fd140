// bench/peers/tokio/src/bin/tokio_resp.rs: tokio, for comparison: resp.
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn serve(mut peer: TcpStream) {
    const ARRAY: &[u8] = b"*1\r\n$4\r\nPING\r\n";
    let mut buffer = vec![0u8; 4096];
    let mut reply = Vec::new();
    let mut have = 0;
    loop {
        match peer.read(&mut buffer[have..]).await {
            Ok(n) if n > 0 => have += n,
            _ => return,
        }
        reply.clear();
        let mut at = 0;
        while at < have {
            let rest = &buffer[at..have];
            let size = if rest[0] == b'*' {
                if rest.len() < ARRAY.len() { break }
                ARRAY.len()
            } else {
                match rest.iter().position(|&b| b == b'\n') {
                    Some(end) => end + 1,
                    None => break,
                }
            };
            at += size;
            reply.extend_from_slice(b"+PONG\r\n");
        }
        buffer.copy_within(at..have, 0);
        have -= at;
        if !reply.is_empty() && peer.write_all(&reply).await.is_err() {
            return;
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
