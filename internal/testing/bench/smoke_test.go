package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/testing/programs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The programs can be built, started and compared: each row has a number for each daemon.
// The test does not check the numbers. With -short it builds only what is not built yet.
func TestSmoke(t *testing.T) {
	args := []string{"-reps", "1", "-only", "turn,stream,oneshot,wire"}
	if testing.Short() {
		args = append(args, "-bin", os.Getenv(programs.Dir))
	}
	var out, log bytes.Buffer
	if code := run(t.Context(), args, &out, &log); code != 0 {
		t.Fatalf("exit %d: %s", code, log.String())
	}
	for _, want := range []*row{rowTurn, rowNewPod, streamed[0].speed, streamed[0].cpu, rowOneShot, rowConnections, rowFirstRequest} {
		line := lineOf(out.String(), want.name)
		cells := strings.Split(line, "|")
		if len(cells) != 9 {
			t.Errorf("%q is missing in\n%s", want.name, out.String())
			continue
		}
		for _, cell := range cells[2:6] {
			if !strings.ContainsAny(cell, "0123456789") {
				t.Errorf("no number: %s", line)
			}
		}
	}
	for _, want := range []string{"Medians of 1.", "Commit ", "go1."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

func lineOf(text, name string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| "+name+" |") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"-only step,stap": `no part "stap"; there are step,`,
		"-reps 0":         "-reps is 0: it takes 1 or more",
		"step":            `"step" is no flag: a part is named with -only`,
	} {
		var out, log bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), &out, &log); code != 2 || !strings.Contains(log.String(), want) {
			t.Errorf("%s: exit %d: %s", args, code, log.String())
		}
	}
}
