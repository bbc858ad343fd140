// hyper_https: "Hello, World!" by hyper and rustls on one thread: hyper_https CHAIN KEY
use std::convert::Infallible;
use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderValue, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::TlsAcceptor;

async fn hello(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::new(Bytes::from_static(b"Hello, World!")));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    Ok(response)
}

fn acceptor(chain: &str, key: &str) -> TlsAcceptor {
    let chain = rustls_pemfile::certs(&mut BufReader::new(File::open(chain).unwrap())).collect::<Result<_, _>>().unwrap();
    let key = rustls_pemfile::private_key(&mut BufReader::new(File::open(key).unwrap())).unwrap().unwrap();
    let mut config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).unwrap();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.ticketer = tokio_rustls::rustls::crypto::aws_lc_rs::Ticketer::new().unwrap();
    TlsAcceptor::from(Arc::new(config))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let acceptor = acceptor(&arguments[1], &arguments[2]);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on {}", listener.local_addr()?);
    tokio::task::LocalSet::new()
        .run_until(async move {
            loop {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                let acceptor = acceptor.clone();
                tokio::task::spawn_local(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let _ = http1::Builder::new()
                        .pipeline_flush(true)
                        .serve_connection(TokioIo::new(stream), service_fn(hello))
                        .await;
                });
            }
        })
        .await
}
