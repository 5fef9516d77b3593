//go:build integrations

// Package vscode tests the extension in plugins/vscode: in VS Code as a user does, its
// client layer in Node against a real podd, its stream view in headless Chromium, and its
// package with vsce.
package vscode

import (
	"archive/zip"
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// model calls shell with the text after "run", apply_patch with the text after "patch", replaces "three" in the file
// after "replace" by the word after that, asks the questions after "ask", and echoes any other prompt. Text after "on the host" asks for that access.
func model(_ context.Context, r scripted.Request) scripted.Reply {
	said := r.LastUser()
	if f := strings.Fields(said); len(f) == 3 && f[0] == "replace" && len(r.Results()) == 0 {
		args, _ := json.Marshal(map[string]string{"path": f[1], "old": "three", "new": f[2]})
		return scripted.Say(scripted.Call{Name: "edit_file", Arguments: string(args)})
	}
	if text, ok := strings.CutPrefix(said, "patch "); ok && len(r.Results()) == 0 {
		args, _ := json.Marshal(map[string]string{"input": text})
		return scripted.Say(scripted.Call{Name: "apply_patch", Arguments: string(args)})
	}
	command, run := strings.CutPrefix(said, "run ")
	questions, ask := strings.CutPrefix(said, "ask ")
	switch {
	case ask && len(r.Results()) == 0:
		return scripted.Say(scripted.Call{Name: "ask_user", Arguments: questions})
	case run && len(r.Results()) == 0:
		arguments := map[string]string{"command": command}
		if rest, host := strings.CutPrefix(command, "on the host "); host {
			arguments = map[string]string{"command": rest, "access": "host", "why": "it <needs> it"}
		}
		args, _ := json.Marshal(arguments)
		return scripted.Say(scripted.Reasoning("The command does it."), scripted.Call{Name: "shell", Arguments: string(args)})
	case run:
		return scripted.Say(scripted.Text("Done."))
	}
	return scripted.Say(scripted.Text("You said: " + said))
}

// asking is a podd where every call asks.
func asking(t *testing.T) *rig.World {
	t.Helper()
	w := rig.Prepare(t, model)
	w.Configure("ask = \"always\"\n[models.other]\nefforts = [\"low\", \"max\"]\n")
	w.Start()
	return w
}

// npm runs npm in the extension's directory.
func npm(t *testing.T, w *rig.World, args ...string) *exec.Cmd {
	t.Helper()
	dir := filepath.Join(rig.Root(), "plugins", "vscode")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", ".bin", "tsc")); err != nil {
		t.Fatal("the packages of plugins/vscode are not installed; `make test-integrations` installs them")
	}
	c := w.Command("npm", append([]string{"--silent"}, args...)...)
	c.Dir = dir
	c.Env = append(c.Env, "WORK="+w.Workspace)
	return c
}

func TestClientLayer(t *testing.T) {
	w := asking(t)
	if out, err := npm(t, w, "test").CombinedOutput(); err != nil || strings.Contains(string(out), "# skipped 1") {
		t.Fatalf("npm test: %v\n%s\nThe log of podd:\n%s", err, out, w.Log())
	}
}

// TestExtension runs the packed extension in VS Code; extension.test.mjs has the steps.
func TestExtension(t *testing.T) {
	rig.NPM(t, "code-server", "lib", "vscode", "node_modules")
	w := asking(t)
	rig.Run(t, npm(t, w, "run", "package"))
	w.Podctl("create", "here", "--dir", w.Workspace)
	other := filepath.Join(w.Dir, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	w.Podctl("create", "elsewhere", "--dir", other)
	c := w.Command("node", "--test", "--test-reporter=tap", filepath.Join(rig.Root(), "integrations", "vscode", "extension.test.mjs"))
	c.Env = append(c.Env, "WORK="+w.Workspace, "OTHER="+other, "PODD_NPM="+filepath.Dir(rig.NPM(t)), "PODD_CHROMIUM="+rig.Need(t, "chromium"),
		"PODD_VSIX="+filepath.Join(rig.Root(), "plugins", "vscode", "dist", "podd.vsix"), "PODD_SCREENSHOTS="+os.Getenv("PODD_SCREENSHOTS"))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\nThe log of podd:\n%s", err, out, w.Log())
	}
}

// shown is the page of a pod's stream in Chromium, once it contains the text looked for.
func shown(t *testing.T, w *rig.World, pod, until, hash string) string {
	t.Helper()
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	rig.Run(t, npm(t, w, "run", "pretest"))
	render := w.Command("node", filepath.Join(rig.Root(), "plugins", "vscode", "dist", "test", "render.js"), pod, until, page)
	rig.Run(t, render)
	flags := []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--user-data-dir=" + filepath.Join(dir, "profile"), "--window-size=700,900",
		"--allow-file-access-from-files",
	}
	if to := os.Getenv("PODD_SCREENSHOTS"); to != "" {
		shot := filepath.Join(to, t.Name()+strings.TrimPrefix(hash, "#")+".png")
		rig.Run(t, w.Command("chromium", append(flags, "--screenshot="+shot, "file://"+page+hash)...))
	}
	return rig.Run(t, w.Command("chromium", append(flags, "--dump-dom", "file://"+page+hash)...))
}

func TestStreamView(t *testing.T) {
	w := asking(t)
	w.Podctl("create", "p", "--dir", w.Workspace)
	w.Podctl("submit", "-p", "p", "-f", "<b>good</b> morning \u202eevil")
	w.Podctl("submit", "-p", "p", "run on the host rm -rf ./build && echo '<img src=x onerror=alert(1)>'")
	var approval struct{ Digest []byte }
	rig.Await(t, "the question", func() bool {
		return json.Unmarshal([]byte(w.Podctl("approvals", "p", "-o", "json")), &approval) == nil && approval.Digest != nil
	})
	digest := approval.Digest
	dom := shown(t, w, "p", "asks", "#deny")
	for _, want := range []string{
		// Text, never markup; nothing hides.
		`You said: &lt;b&gt;good&lt;/b&gt; morning <code class="hidden-char" title="a hidden character">\u{202e}</code>evil`,
		"Turn 1 finished",
		`class="block call" data-state="asks"`,
		`rm -rf ./build`,
		`Access "host", why "it &lt;needs&gt; it": the command "rm -rf ./build`,
		"Allow once",
		"p: asks",
		`"digest":"` + hex.EncodeToString(digest) + `"`, // The button sent it to the extension, for the call shown.
	} {
		if !strings.Contains(strings.ReplaceAll(dom, "&quot;", `"`), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(dom, "<img") {
		t.Error("a command became markup")
	}
	if t.Failed() {
		t.Log(dom)
	}
}

// A call that asks has other buttons than one that needs approval.
func TestFormView(t *testing.T) {
	w := asking(t)
	w.Podctl("create", "p", "--dir", w.Workspace)
	w.Podctl("submit", "-p", "p", `ask {"questions":[{"question":"<b>Which</b>?","header":"Database","options":[{"label":"SQLite"}]}]}`)
	dom := strings.ReplaceAll(shown(t, w, "p", "asks", "#deny"), "&quot;", `"`)
	for _, want := range []string{`&lt;b&gt;Which&lt;/b&gt;?`, "Answer…", `{"type":"form","callId":`, `"dismiss":true}`} {
		if !strings.Contains(dom, want) {
			t.Errorf("the page lacks %q:\n%s", want, dom)
		}
	}
	if strings.Contains(dom, "Allow once") {
		t.Errorf("the page shows an approval:\n%s", dom)
	}
}

// The Markdown of an answer becomes elements. Its HTML stays text, and its links lead to the web alone.
func TestMarkdown(t *testing.T) {
	w := asking(t)
	w.Podctl("create", "p", "--dir", w.Workspace)
	w.Podctl("submit", "-p", "p", "-f", "this:\n\n## Head **bold**\n\n1. one `code`\n2. two\n\n```go\nif a < b {\n```\n\n|k|v|\n|-|-|\n|x|y|\n\n"+
		"[home](https://example.org/) [evil](javascript:alert(1)) <b onclick=x>raw</b> ![e](http://f.example/g.png)\n\n"+
		"```nosuch\nif 1\n```\n\n```__proto__\nif 1\n```\n\n```diff\n-a\n+b\n```\n\n```go\nx := \"\u202e\"\n```\n")
	dom := shown(t, w, "p", "Turn 1 finished", "")
	for _, want := range []string{
		`<h2>Head <strong>bold</strong></h2><ol><li>one <code>code</code></li><li>two</li></ol><pre tabindex="0"><code><span class="code-keyword">if</span> a &lt; b {</code></pre>`,
		`<table><thead><tr><th>k</th><th>v</th></tr></thead><tbody><tr><td>x</td><td>y</td></tr></tbody></table>`,
		`<a href="https://example.org/" rel="noopener noreferrer" target="_blank" title="https://example.org/">home</a><span class="target"> (example.org)</span> [evil](javascript:alert(1)) &lt;b onclick=x&gt;raw&lt;/b&gt; !<a`,
		`<pre tabindex="0"><code>if 1</code></pre><pre tabindex="0"><code>if 1</code></pre>`,
		`<pre class="diff" tabindex="0"><span class="minus">-a</span>
<span class="plus">+b</span>
</pre>`,
		`<span class="code-string">"<code class="hidden-char" title="a hidden character">\u{202e}</code>"</span>`,
	} {
		if !strings.Contains(dom, want) {
			t.Errorf("the page lacks %q:\n%s", want, dom)
		}
	}
}

func TestPathsAreOffered(t *testing.T) {
	w := asking(t)
	w.Podctl("create", "p", "--dir", w.Workspace)
	w.Podctl("submit", "-p", "p", "-f", "hello")
	dom := strings.ReplaceAll(shown(t, w, "p", "Turn 1 finished", "#type"), "&quot;", `"`)
	for _, want := range []string{`{"type":"complete","prefix":"thr"}`, `{"type":"submit","text":"look at @three.txt ","steer":false}`,
		`{"type":"names","prefix":"/gh:r"}`, `{"type":"submit","text":"/gh:review ","steer":false}`} {
		if !strings.Contains(dom, want) {
			t.Errorf("the page did not tell %s:\n%s", want, dom)
		}
	}
}

// Tab and Enter mean the paths for the text that is there, also before they are offered.
func TestFastKeys(t *testing.T) {
	w := asking(t)
	w.Podctl("create", "p", "--dir", w.Workspace)
	w.Podctl("submit", "-p", "p", "-f", "hello")
	dom := strings.ReplaceAll(shown(t, w, "p", "Turn 1 finished", "#hurry"), "&quot;", `"`)
	for _, want := range []string{`[@thr][@three.txt ]`, `[@thre]`, `{"type":"submit","text":"see @threx","steer":false}`} {
		if !strings.Contains(dom, want) {
			t.Errorf("the page did not tell %s:\n%s", want, dom)
		}
	}
}

// The page asks the extension to send its text with images, and keeps the text until that is done.
func TestImagesAreSent(t *testing.T) {
	w := asking(t)
	w.Podctl("create", "p", "--dir", w.Workspace)
	w.Podctl("submit", "-p", "p", "-f", "hello")
	dom := strings.ReplaceAll(shown(t, w, "p", "Turn 1 finished", "#image"), "&quot;", `"`)
	if want := `{"type":"image","text":"see"}[see][see][]`; !strings.Contains(dom, want) {
		t.Errorf("the page did not tell %s:\n%s", want, dom)
	}
}

// The switch of plan mode reaches the extension. While it is on, a prompt that would steer an
// idle pod begins a turn of its own.
func TestPlanIsSwitched(t *testing.T) {
	w := asking(t)
	w.Podctl("create", "p", "--dir", w.Workspace)
	w.Podctl("submit", "-p", "p", "-f", "hello")
	dom := strings.ReplaceAll(shown(t, w, "p", "Turn 1 finished", "#plan"), "&quot;", `"`)
	const want = `{"type":"plan","on":true}{"type":"submit","text":"while it runs","steer":true}{"type":"submit","text":"idle","steer":false}` +
		`{"type":"plan","on":false}{"type":"submit","text":"acting","steer":true}`
	if !strings.Contains(dom, want) {
		t.Errorf("the page did not say %s:\n%s", want, dom)
	}
}

// The package contains the whole extension, and nothing about where it was built.
func TestPackage(t *testing.T) {
	w := rig.Prepare(t, model)
	rig.Run(t, npm(t, w, "run", "package"))
	z, err := zip.OpenReader(filepath.Join(rig.Root(), "plugins", "vscode", "dist", "podd.vsix"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := make(map[string]bool)
	for _, f := range z.File {
		files[f.Name] = true
		if strings.Contains(f.Name, "node_modules") || strings.Contains(f.Name, "/src/") || strings.Contains(f.Name, "/test/") {
			t.Errorf("the package has %s", f.Name)
		}
	}
	for _, want := range []string{"extension/package.json", "extension/dist/extension.js", "extension/dist/stream.js", "extension/media/stream.css", "extension/media/podd.svg"} {
		if !files[want] {
			t.Errorf("the package lacks %s", want)
		}
	}
}
