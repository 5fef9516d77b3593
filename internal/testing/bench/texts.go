package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"podd/pkg/item"
)

// sizes are how long texts are, in bytes: at the 10th, 50th, 90th and 99th percentile.
type sizes [4]float64

// The sizes of messages, calls and results in the 35 recorded sessions of
// internal/testing/prunebench. weight is how many results of a hundred are of a tool.
var (
	promptSizes = sizes{19, 98, 3984, 13572}
	answerSizes = sizes{52, 145, 888, 2855}
	callSizes   = sizes{73, 157, 1230, 5772}
	resultSizes = []struct {
		tool   string
		weight int
		sizes
		text func(*texts, int) string
	}{
		{"read_file", 21, sizes{665, 3158, 18135, 48634}, (*texts).source},
		{"search", 12, sizes{36, 443, 6128, 40161}, (*texts).matches},
		{"shell", 30, sizes{63, 263, 3470, 13292}, (*texts).output},
		{"api", 20, sizes{63, 263, 3470, 13292}, (*texts).objects},
		{"edit_file", 17, sizes{91, 133, 283, 5158}, (*texts).prose},
	}
)

// mostResult is where podd's tools cut what they return, in bytes.
const mostResult = 16 << 10

// draw is a size.
func (s sizes) draw(r *rand.Rand) int {
	at := []float64{0, 0.1, 0.5, 0.9, 0.99, 1}
	bytes := []float64{s[0] / 2, s[0], s[1], s[2], s[3], s[3] * 1.5}
	x, i := r.Float64(), 1
	for x > at[i] {
		i++
	}
	share := (x - at[i-1]) / (at[i] - at[i-1])
	return int(bytes[i-1] * math.Pow(bytes[i]/bytes[i-1], share))
}

// texts makes what the logs of agents say, out of Go's source.
type texts struct {
	random   *rand.Rand
	files    []string
	comments []string
}

func newTexts() (*texts, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	t := &texts{random: rand.New(rand.NewPCG(1, 2))}
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		data, err := os.ReadFile(path)
		if text := strings.ToValidUTF8(string(data), "?"); text != "" {
			t.files = append(t.files, text)
		}
		return err
	})
	for _, file := range t.files {
		for line := range strings.Lines(file) {
			if comment, ok := strings.CutPrefix(line, "// "); ok {
				t.comments = append(t.comments, strings.TrimSpace(comment)+" ")
			}
		}
	}
	if err == nil && len(t.comments) == 0 {
		err = errors.New("the logs are made of Go's source, which is not installed")
	}
	return t, err
}

// pieces joins pieces until there are n bytes.
func (t *texts) pieces(n int, next func() string) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(next())
	}
	return strings.ToValidUTF8(b.String()[:n], "")
}

// source is a part of files.
func (t *texts) source(n int) string {
	return t.pieces(n, func() string {
		file := t.files[t.random.IntN(len(t.files))]
		file = file[t.random.IntN(len(file)):]
		return file[:min(len(file), n)]
	})
}

func (t *texts) prose(n int) string {
	at := t.random.IntN(len(t.comments))
	return t.pieces(n, func() string {
		at = (at + 1) % len(t.comments)
		return t.comments[at]
	})
}

// matches are lines that a search found.
func (t *texts) matches(n int) string {
	return t.pieces(n, func() string {
		return "internal/net/handler.go:" + strconv.Itoa(t.random.IntN(900)) + ":\t" + strings.TrimSpace(t.source(60)) + "\n"
	})
}

// output is what tests print.
func (t *texts) output(n int) string {
	return t.pieces(n, func() string {
		return "=== RUN   TestHandler\n    handler_test.go:42: " + t.prose(50) + "\n--- PASS: TestHandler (0.03s)\nok  \texample.com/net\t0.341s\n"
	})
}

// objects are an answer of an API.
func (t *texts) objects(n int) string {
	return t.pieces(n, func() string {
		object, _ := json.Marshal(map[string]any{"id": t.random.Uint64(), "title": t.prose(40), "body": t.source(200), "labels": []string{"bug", "net"}, "open": true})
		return string(object) + "\n"
	})
}

// fill gives the entries of a recorded turn texts of their own.
func (t *texts) fill(turn []item.Entry) {
	for i, e := range turn {
		switch k := e.Kind.(type) {
		case item.Submitted:
			k.Text = t.prose(promptSizes.draw(t.random))
			k.Segments = []item.Segment{item.TextSegment{Text: k.Text}}
			turn[i].Kind = k
		case item.ItemAdded:
			turn[i].Kind = item.ItemAdded{Item: t.item(k.Item)}
		}
	}
}

func (t *texts) item(it item.Item) item.Item {
	switch it := it.(type) {
	case item.AssistantMessage:
		it.Text = t.prose(answerSizes.draw(t.random))
		return it
	case item.ToolCall:
		arguments, _ := json.Marshal(map[string]string{"command": t.source(callSizes.draw(t.random))})
		it.Arguments = string(arguments)
		return it
	case item.ToolResult:
		x := t.random.IntN(100)
		for _, r := range resultSizes {
			if x -= r.weight; x < 0 {
				it.Tool, it.Content = r.tool, r.text(t, min(r.draw(t.random), mostResult))
				break
			}
		}
		return it
	}
	return it
}
