package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"
)

// busy is a store that changes between two reads.
type busy struct {
	store.Store
	inbox, image func()
}

func (b *busy) Inbox(ctx context.Context, pod string) ([]store.Waiting, error) {
	b.inbox()
	return b.Store.Inbox(ctx, pod)
}

func (b *busy) Image(ctx context.Context, digest string) ([]byte, error) {
	b.image()
	return b.Store.Image(ctx, digest)
}

// A check of a store in use takes no change for damage: a submit that comes, and a pod that is purged or deleted.
func TestCheckStoreInUse(t *testing.T) {
	nothing := func() {}
	for _, how := range []string{"purged", "deleted"} {
		t.Run(how, func(t *testing.T) {
			s := openUnchecked(t, filepath.Join(t.TempDir(), "podd.db"))
			epoch := newPod(t, s, "p")
			image := item.UserMessage{Images: item.NewImages(item.Image{Digest: imageDigest})}
			_, err := s.Append(t.Context(), store.Batch{
				Pod: "p", Epoch: epoch, Images: map[string][]byte{imageDigest: []byte("pixels")}, Entries: []item.Entry{{Kind: item.ItemAdded{Item: image}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			come := 0
			b := &busy{Store: s, inbox: func() {
				if come++; come > 3 {
					return
				}
				id := fmt.Sprint("r", come)
				_, err := s.Append(t.Context(), store.Batch{
					Pod: "p", Epoch: epoch, Admit: &store.Request{ID: id}, Enqueue: true, Entries: []item.Entry{{Kind: item.Submitted{RequestID: id}}},
				})
				if err != nil {
					t.Error(err)
				}
			}, image: func() {
				if how == "deleted" {
					deletePod(t, s, "p")
				} else {
					mustPurge(t, s, "p", 1)
				}
			}}
			if found, err := store.CheckStore(t.Context(), b); err != nil || len(found) > 0 || come < 2 {
				t.Errorf("after %d submits: %v, %v", come, found, err)
			}
			b.inbox, b.image = nothing, nothing
			if found, err := store.CheckStore(t.Context(), b); err != nil || len(found) > 0 {
				t.Errorf("at rest: %v, %v", found, err)
			}
		})
	}
}
