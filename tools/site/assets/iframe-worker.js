// Runs the worker of the search in a frame when the site is opened as files: browsers start no worker from a file.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      this.waiting = [];
      this.frame.srcdoc = `<script src="${url}"><\/script>`;
      this.frame.addEventListener("load", () => {
        for (const data of this.waiting.splice(0)) this.deliver(data);
        this.waiting = null;
      });
      window.addEventListener("message", event => {
        if (event.source !== this.frame.contentWindow) return;
        const message = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      });
      document.body.append(this.frame);
    }
    deliver(data) {
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data, source: window }));
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.deliver(data);
    }
    terminate() { this.frame.remove(); }
  };
  window.Worker = window.IFrameWorker;
}
