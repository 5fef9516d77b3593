package store_test

import (
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"
)

// podd refuses a file whose pods went elsewhere, and says where.
func TestFileIsLeft(t *testing.T) {
	path := everything(t)
	if err := store.LeaveFile(path, "postgres://db/podd"); err != nil {
		t.Fatal(err)
	}
	_, err := store.OpenBolt(store.BoltConfig{Path: path})
	if item.ReasonOf(err) != store.ReasonLeft || !strings.Contains(err.Error(), "postgres://db/podd") {
		t.Errorf("got %v", err)
	}
	if to, err := store.LeftFor(path); to != "postgres://db/podd" || err != nil {
		t.Errorf("left for %q, %v", to, err)
	}
	if found := check(t, path, false); len(found) > 0 {
		t.Errorf("the file: %v", found)
	}
}
