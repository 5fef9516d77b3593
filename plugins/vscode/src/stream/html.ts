/** Assets are the page's files and their source for the content policy. */
export interface Assets {
  script: string;
  style: string;
  /** The source of styles and scripts, for the page's policy. */
  source: string;
}

/**
 * html is the page of the stream view. It is empty: blocks come as messages. Its policy
 * permits only its own script and style, and pictures that come in messages; and no HTML made from text.
 */
export function html(a: Assets): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${a.source}; script-src ${a.source}; img-src data:; require-trusted-types-for 'script'; trusted-types 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${a.style}">
<title>podd</title>
</head>
<body>
<main id="blocks" role="log" aria-live="polite"></main>
<footer>
<div id="state" role="status"></div>
<ul id="paths" role="listbox" hidden></ul>
<form id="form">
<textarea id="input" rows="2" aria-label="Message to the pod" placeholder="Message; @ adds a file. Enter sends, Shift+Enter adds a line, Ctrl+Enter steers the running turn."></textarea>
<button type="submit">Send</button>
<button type="button" id="image">Send with images…</button>
<button type="button" id="plan" aria-pressed="false" title="In plan mode a prompt begins a turn that reads and plans, and changes nothing">Plan</button>
<button type="button" id="cancel" hidden>Cancel turn</button>
</form>
</footer>
<script src="${a.script}"></script>
</body>
</html>
`;
}
