package store_test

import (
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"
)

func TestShareOf(t *testing.T) {
	clone := item.Checkout{Clone: "/state/checkouts/p/app"}
	team := "0123456789abcdef:/mnt/team"
	for name, c := range map[string]struct {
		shares []string
		spec   item.PodSpec
		want   string
	}{
		"in a clone":                         {[]string{team, store.GitShare}, item.PodSpec{Dir: clone.Clone + "/sub", Checkout: clone}, store.GitShare},
		"in a clone, and reads more":         {[]string{team, store.GitShare}, item.PodSpec{Dir: clone.Clone, Read: []string{"/etc"}, Checkout: clone}, ""},
		"in a clone, at a node without git":  {[]string{team}, item.PodSpec{Dir: clone.Clone, Checkout: clone}, ""},
		"in a directory of a node with git":  {[]string{store.GitShare}, item.PodSpec{Dir: "/home/you/app"}, ""},
		"in a shared directory":              {[]string{store.GitShare, team}, item.PodSpec{Dir: "/mnt/team/app"}, team},
		"in one with a similar name":         {[]string{store.GitShare, team}, item.PodSpec{Dir: "/mnt/team2"}, ""},
		"in another checkout, which is here": {[]string{store.GitShare, team}, item.PodSpec{Dir: "/mnt/team/app", Checkout: item.Checkout{Source: "/mnt/team"}}, ""},
	} {
		if got := store.ShareOf(c.shares, c.spec); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
