package store_test

import (
	"strings"
	"testing"

	"podd/pkg/store"
)

// Whoever asks for a pod whose node is not there reads how to go on without that node.
func TestElsewhereNamesAWayOut(t *testing.T) {
	for _, n := range []store.Node{{}, {Name: "n1", State: store.NodeStopped}, {Name: "n1", State: store.NodeAway}} {
		if err := store.Elsewhere("api", n); !strings.HasSuffix(err.Error(), "or move the pod: podctl move api NODE") {
			t.Errorf("%s: %v", n.State, err)
		}
	}
}
