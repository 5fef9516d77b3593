// The page of the stream view. All text is set as text, never as markup; Markdown comes as
// elements, of which only those listed here are made.
// Messages: src/stream/messages.ts.
(function () {
  "use strict";
  const host = acquireVsCodeApi();
  const list = document.getElementById("blocks");
  const input = document.getElementById("input");
  const paths = document.getElementById("paths");
  const plan = document.getElementById("plan");
  const shown = new Map();
  let busy = false;

  function element(tag, className, text) {
    const e = document.createElement(tag);
    e.className = className;
    if (text !== undefined) e.textContent = text;
    return e;
  }

  function fold(className, summary, detail, open) {
    const d = element("details", className);
    d.open = open;
    d.append(element("summary", "", summary));
    if (detail) d.append(element("pre", "detail", detail));
    return d;
  }

  function button(label, b, approve, always) {
    const e = element("button", approve ? "yes" : "no", label);
    e.type = "button";
    e.addEventListener("click", () => {
      for (const other of e.parentElement.children) other.disabled = true;
      host.postMessage({ type: "answer", callId: b.callId, digest: b.digest, approve, always });
    });
    return e;
  }

  const tags = new Set("a blockquote br code em h1 h2 h3 h4 h5 h6 hr li ol p pre s span strong table tbody td th thead tr ul".split(" "));

  function append(into, pieces) {
    for (const p of pieces) {
      if (typeof p === "string") {
        into.append(p);
      } else if (tags.has(p.tag)) {
        const e = document.createElement(p.tag);
        if (p.tag === "a" && /^(https?|mailto):/i.test(p.href)) {
          e.href = p.href;
          // The text may name another place.
          e.title = p.href;
        }
        if (p.start !== undefined) e.start = p.start;
        if (p.code !== undefined) e.className = `code-${p.code}`;
        append(e, p.of);
        into.append(e);
      }
    }
    return into;
  }

  const marks = { writing: "…", waiting: "?", running: "▶", done: "✓", error: "✗" };

  function tool(b, before) {
    const open = before ? before.querySelector("details").open : false;
    const box = element("div", "tool");
    // Most summaries begin with the tool's name.
    const text = b.text.startsWith(`${b.tool}:`) || b.text.startsWith(`${b.tool} `) ? b.text : `${b.tool}  ${b.text}`;
    box.append(fold("call", `${marks[b.state] || ""} ${text}`, b.arguments && `${b.arguments}\n\n${b.detail || ""}`, open));
    if (b.state === "waiting") {
      const ask = element("div", "ask");
      ask.append(element("p", "question", b.question));
      ask.append(element("pre", "what", b.arguments));
      const answers = element("div", "answers");
      answers.append(button("Allow once", b, true, false), button("Always", b, true, true), button("Deny", b, false, false));
      if (b.files) {
        const diff = element("button", "no", b.files > 1 ? `Show ${b.files} diffs` : "Show diff");
        diff.type = "button";
        diff.addEventListener("click", () => host.postMessage({ type: "diff", callId: b.callId }));
        answers.append(diff);
      }
      ask.append(answers);
      box.append(ask);
    }
    return box;
  }

  // Data URIs of pictures, by digest. A picture is asked for when its line comes into view.
  const pictures = new Map();
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      watch.unobserve(target);
      host.postMessage({ type: "picture", digest: target.dataset.digest });
    }
  });

  function picture({ line, digest }) {
    const e = element("figure", "picture");
    e.dataset.digest = digest;
    e.append(element("figcaption", "", line));
    if (pictures.has(digest)) reveal(e);
    else watch.observe(e);
    return e;
  }

  function reveal(e) {
    if (e.querySelector("img")) return;
    const image = element("img", "");
    image.alt = e.querySelector("figcaption").textContent;
    image.src = pictures.get(e.dataset.digest);
    e.append(image);
  }

  function draw(b, before) {
    let e;
    if (b.kind === "tool") {
      e = tool(b, before);
    } else if (b.detail !== undefined) {
      const open = before ? before.querySelector("details").open : false;
      e = element("div", "");
      e.append(fold("", b.text, b.detail, open));
    } else if (b.markdown) {
      e = append(element("div", "markdown"), b.markdown);
    } else {
      e = element("div", "", b.text);
    }
    for (const p of b.pictures || []) e.append(picture(p));
    e.classList.add("block", b.kind);
    if (b.state) e.classList.add(b.state);
    if (b.level) e.classList.add(b.level);
    e.dataset.id = b.id;
    return e;
  }

  function atEnd() {
    return window.innerHeight + window.scrollY >= document.body.scrollHeight - 40;
  }

  function put(blocks) {
    for (const b of blocks) {
      const before = shown.get(b.id);
      const e = draw(b, before);
      if (before) before.replaceWith(e);
      else list.append(e);
      shown.set(b.id, e);
    }
  }

  function drop(ids) {
    for (const id of ids) {
      const e = shown.get(id);
      if (e) e.remove();
      shown.delete(id);
    }
  }

  // The end stays in view, unless the person has scrolled away from it.
  function keepingEnd(change) {
    const follow = atEnd();
    change();
    if (follow) window.scrollTo(0, document.body.scrollHeight);
  }

  const handlers = {
    keep(m) {
      host.setState(m.state);
    },
    reset(m) {
      keepingEnd(() => {
        drop([...shown.keys()]);
        put(m.blocks);
      });
    },
    change(m) {
      keepingEnd(() => {
        drop(m.drop);
        put(m.put);
      });
    },
    state(m) {
      document.getElementById("state").textContent = m.text;
      busy = m.busy;
      document.getElementById("cancel").hidden = !busy;
      plan.setAttribute("aria-pressed", String(m.plan));
    },
    sent(m) {
      if (input.value === m.text) input.value = "";
    },
    picture(m) {
      pictures.set(m.digest, m.uri);
      keepingEnd(() => {
        for (const e of list.querySelectorAll("figure.picture")) if (e.dataset.digest === m.digest) reveal(e);
      });
    },
    paths(m) {
      if (m.prefix === reference()) offer(m.paths);
    },
  };
  window.addEventListener("message", (event) => {
    const handle = handlers[event.data.type];
    if (handle) handle(event.data);
  });

  // reference is the text between an @ and the cursor, or undefined.
  function reference() {
    const before = input.value.slice(0, input.selectionStart);
    const found = /(?:^|\s)@([^\s@]*)$/.exec(before);
    return found ? found[1] : undefined;
  }

  let chosen = 0;

  function offer(found) {
    paths.replaceChildren(
      ...found.map((p) => {
        const e = element("li", "", p);
        e.setAttribute("role", "option");
        e.addEventListener("mousedown", (event) => {
          event.preventDefault();
          take(p);
        });
        return e;
      }),
    );
    paths.hidden = found.length === 0;
    choose(0);
  }

  function choose(n) {
    const count = paths.children.length;
    if (count === 0) return;
    chosen = (n + count) % count;
    [...paths.children].forEach((e, i) => {
      e.setAttribute("aria-selected", String(i === chosen));
      if (i === chosen) e.scrollIntoView({ block: "nearest" });
    });
  }

  function take(path) {
    const end = input.selectionStart;
    const start = end - reference().length;
    const more = path.endsWith("/") ? "" : " ";
    input.setRangeText(path + more, start, end, "end");
    paths.hidden = true;
    if (!more) complete();
  }

  function complete() {
    const prefix = reference();
    if (prefix === undefined) paths.hidden = true;
    else host.postMessage({ type: "complete", prefix });
  }

  function planning() {
    return plan.getAttribute("aria-pressed") === "true";
  }

  function send(steer) {
    const text = input.value;
    if (!text.trim()) return;
    input.value = "";
    paths.hidden = true;
    // A prompt that steers an idle pod begins a turn, which would act.
    host.postMessage({ type: "submit", text, steer: steer && (busy || !planning()) });
  }

  input.addEventListener("input", complete);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const open = !paths.hidden;
    if (open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
    } else if (open && (event.key === "Tab" || event.key === "Enter")) {
      take(paths.children[chosen].textContent);
    } else if (open && event.key === "Escape") {
      paths.hidden = true;
    } else if (event.key === "Enter" && !event.shiftKey) {
      send(event.ctrlKey || event.metaKey);
    } else {
      return;
    }
    event.preventDefault();
  });
  document.getElementById("form").addEventListener("submit", (event) => {
    event.preventDefault();
    send(false);
  });
  document.getElementById("image").addEventListener("click", () => host.postMessage({ type: "image", text: input.value }));
  document.getElementById("cancel").addEventListener("click", () => host.postMessage({ type: "cancel" }));
  plan.addEventListener("click", () => {
    const on = !planning();
    plan.setAttribute("aria-pressed", String(on));
    host.postMessage({ type: "plan", on });
  });
  host.postMessage({ type: "ready" });
})();
