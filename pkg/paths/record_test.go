package paths_test

import (
	"os"
	"path/filepath"
	"testing"

	"podd/pkg/paths"
)

func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.json")
	got := map[string]int{"unset": 1}
	if err := paths.ReadRecord(path, &got); err != nil || got["unset"] != 1 {
		t.Errorf("without a file: %v, %v", got, err)
	}
	if err := paths.WriteRecord(path, map[string]int{"a": 2}); err != nil {
		t.Fatal(err)
	}
	if err := paths.ReadRecord(path, &got); err != nil || got["a"] != 2 {
		t.Errorf("read %v, %v", got, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := paths.ReadRecord(path, &got); err == nil {
		t.Error("a record that other users can read is used")
	}
}
