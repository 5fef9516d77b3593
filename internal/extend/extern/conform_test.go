package extern_test

import (
	"context"
	"os"
	"testing"

	"podd/internal/extend/extern"
	"podd/pkg/hook/hooktest"
	"podd/pkg/interceptor"
	"podd/pkg/interceptor/interceptortest"
	"podd/pkg/item"
)

// Commands make valid interceptors and hooks.
func TestConform(t *testing.T) {
	r, err := extern.New(t.Context(), extern.Config{
		Pod: func(_ context.Context, id string) (item.Pod, error) {
			return item.Pod{ID: id, Name: "demo", Spec: item.PodSpec{Dir: t.TempDir()}}, nil
		},
		Alert:   func(text string) { t.Error(text) },
		Environ: []string{"PATH=" + os.Getenv("PATH")},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	sh := func(script string, on ...string) extern.Command {
		return extern.Command{Name: "x", On: on, Argv: []string{"sh", "-c", script}}
	}
	for name, script := range map[string]string{
		"silent":  "cat >/dev/null",
		"refuses": "echo no >&2; exit 2",
		"decides": `case $PODD_EVENT in
prompt_submit) echo '{"verdict":"rewrite","text":"hi"}' ;;
before_request) echo '{"verdict":"continue_with","items":["a"]}' ;;
before_tool) echo '{"verdict":"rewrite","arguments":{"a":1}}' ;;
after_tool) echo '{"verdict":"replace","output":{"content":"b"}}' ;;
turn_end) echo '{"verdict":"continue_with","items":["c"]}' ;;
esac`,
		"fails": "exit 1",
	} {
		t.Run(name, func(t *testing.T) {
			i, err := r.Interceptor(sh(script, extern.Edges()...), "")
			if err != nil {
				t.Fatal(err)
			}
			interceptortest.Conform(t, i, interceptortest.Events{Turns: []interceptor.Turn{aTurn}})
		})
	}
	h, err := r.Hook(sh("exec cat >/dev/null", append([]string{extern.EventEntry}, extern.Events()...)...))
	if err != nil {
		t.Fatal(err)
	}
	hooktest.Conform(t, h)
}
