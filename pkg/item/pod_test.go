package item_test

import (
	"testing"

	"podd/pkg/item"
)

// A pod has the network if it and all pods above it have it.
func TestNetworkNeverGrows(t *testing.T) {
	const on, off = item.NetworkOn, item.NetworkOff
	for _, c := range []struct {
		own        string
		above      []string
		configured bool
		want       bool
	}{
		{"", nil, false, false}, {"", nil, true, true}, {on, nil, false, true}, {off, nil, true, false},
		{on, []string{on}, false, true}, {on, []string{off}, true, false}, {on, []string{""}, false, false}, {"", []string{""}, true, true},
		{on, []string{on, off}, true, false}, {off, []string{on}, true, false},
	} {
		var above []item.Pod
		for _, network := range c.above {
			above = append(above, item.Pod{Spec: item.PodSpec{Network: network}})
		}
		if got := (item.PodSpec{Network: c.own}).ReachesNetwork(above, c.configured); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestRulesAreEqual(t *testing.T) {
	a := item.Rule{Tool: "shell", Access: []item.Access{item.AccessHost}}
	b := a
	b.Access = []item.Access{item.AccessNetwork}
	if !a.Equal(a) || a.Equal(b) || a.Equal(item.Rule{Tool: "shell"}) {
		t.Error("rules that differ are equal, or the other way round")
	}
}
