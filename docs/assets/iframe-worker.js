// The search of a site that is opened as files: browsers start no workers from files, so the worker's script runs in a
// hidden frame instead. On a server nothing is changed.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = Object.assign(document.createElement("iframe"), { hidden: true });
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = Object.assign(inside.document.createElement("script"), { src: new URL(address, document.baseURI) });
      this.ready = new Promise((loaded) => script.addEventListener("load", loaded));
      this.inside = inside;
      inside.document.head.append(script);
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data })));
    }

    terminate() {
      this.inside.frameElement.remove();
    }
  };
}
