package store_test

import (
	"path/filepath"
	"testing"

	"podd/pkg/store"
	"podd/pkg/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(dir string) (store.Store, error) {
		return store.OpenBolt(store.BoltConfig{Path: filepath.Join(dir, "podd.db")})
	})
}
