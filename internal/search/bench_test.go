package search_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"podd/internal/search"
	"podd/pkg/item"
	"podd/pkg/store"
)

// logsMiB is how much text the logs of BenchmarkSearch have.
var logsMiB = flag.Int("logs", 64, "size of the logs of BenchmarkSearch, in MiB")

// BenchmarkSearch searches the logs of 40 pods: calls that read the files of Go's source,
// and short texts between them.
func BenchmarkSearch(b *testing.B) {
	s := benchStore(b)
	searcher := search.New(s)
	for _, text := range []string{"flux capacitor", "zqx", "tesneretion", "größe", "\"quoted\" zebra", "the", "PutUvarint64"} {
		b.Run(text, func(b *testing.B) {
			hits := 0
			before := cpu(b)
			for b.Loop() {
				hits = 0
				for _, err := range searcher.Search(b.Context(), search.Query{Text: text, Limit: 50}) {
					if err != nil {
						b.Fatal(err)
					}
					hits++
				}
			}
			b.ReportMetric(float64(hits), "hits")
			b.ReportMetric(float64((cpu(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// cpu is the time that this process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func benchStore(b *testing.B) store.Store {
	b.Helper()
	files := goSource(b)
	s, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(b.TempDir(), "podd.db")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	const pods = 40
	epochs := make([]store.Epoch, pods)
	for p := range pods {
		id := fmt.Sprint("pod-", p)
		if err := s.CreatePod(b.Context(), item.Pod{ID: id, Name: id, CreatedAt: time.Unix(0, 0)}); err != nil {
			b.Fatal(err)
		}
		if epochs[p], err = s.Claim(b.Context(), id); err != nil {
			b.Fatal(err)
		}
	}
	for n, size := 0, 0; size < *logsMiB<<20; n++ {
		var entries []item.Entry
		for batch := 0; batch < 1<<20; {
			text := files[(n*31+len(entries))%len(files)]
			kinds := []item.Kind{
				item.Submitted{RequestID: fmt.Sprint(n), Text: "please look at the next file and say what is wrong with it"},
				item.ItemAdded{Item: item.ToolCall{CallID: fmt.Sprint(n), Name: "read_file", Arguments: `{"path":"src/a\"b.go"}`}},
				item.ItemAdded{Item: item.ToolResult{CallID: fmt.Sprint(n), Tool: "read_file", Output: item.Output{Summary: "40 lines", Content: text}}},
				item.ItemAdded{Item: item.AssistantMessage{Text: "The file is fine, but " + text[:min(len(text), 300)]}},
			}
			for _, k := range kinds {
				entries = append(entries, item.Entry{Time: time.Unix(int64(n), int64(len(entries))), Kind: k})
			}
			batch += len(text) + 600
		}
		p := n % pods
		if _, err := s.Append(b.Context(), store.Batch{Pod: fmt.Sprint("pod-", p), Epoch: epochs[p], Entries: entries}); err != nil {
			b.Fatal(err)
		}
		size += 1 << 20
	}
	return s
}

// goSource is the source of Go in pieces of at most 16 KiB, as tools return it.
func goSource(b *testing.B) (pieces []string) {
	b.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("the source of Go is not here: ", err)
	}
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		data, err := os.ReadFile(path)
		for text := strings.ToValidUTF8(string(data), "?"); text != ""; {
			n := min(len(text), 16<<10)
			pieces = append(pieces, text[:n])
			text = text[n:]
		}
		return err
	})
	if err != nil || len(pieces) == 0 {
		b.Skip("the source of Go is not here: ", err)
	}
	return pieces
}
