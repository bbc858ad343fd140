// axum_http: "Hello, World!" by axum on one thread.
use axum::routing::get;
use axum::serve::ListenerExt;
use axum::Router;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on {}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, Router::new().route("/", get(|| async { "Hello, World!" }))).await
}
