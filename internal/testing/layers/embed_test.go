package layers_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The public API is enough to host pods: the example is a separate module, which can
// import no internal package.
func TestExampleOfAnEmbedderBuildsAndRuns(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "embed")
	run := func(name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = "../../../examples/embed"
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s\nWhen the requirements of podd have changed, run go mod tidy in examples/embed.", cmd, err, output)
		}
		return strings.TrimSpace(string(output))
	}
	run("go", "build", "-mod=readonly", "-o", binary, ".")
	for prompt, want := range map[string]string{
		"":               "There are 12 apples.",
		"Any diamonds?":  "stock: denied by discreet: the shop does not talk about diamonds",
		"Hello.":         "Ask me how many apples, pears or diamonds there are.",
		"And the pears?": "There are 7 pears.",
	} {
		if got := run(binary, prompt); got != want {
			t.Errorf("%q is answered by %q, want %q", prompt, got, want)
		}
	}
}
