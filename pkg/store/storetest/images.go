package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strings"

	"podd/pkg/item"
	"podd/pkg/store"
)

// picture is an image with these bytes, and bytesOf what a batch has of it.
func picture(bytes string) item.Image {
	sum := sha256.Sum256([]byte(bytes))
	return item.Image{Digest: hex.EncodeToString(sum[:]), MediaType: "image/png", Width: 1, Height: 1, Bytes: int64(len(bytes))}
}

func bytesOf(all ...string) map[string][]byte {
	images := make(map[string][]byte)
	for _, b := range all {
		images[picture(b).Digest] = []byte(b)
	}
	return images
}

// pictured is an entry that refers to images, differing by n.
func pictured(n int, all ...string) item.Entry {
	var images []item.Image
	for _, b := range all {
		images = append(images, picture(b))
	}
	return item.Entry{Time: at(n), Kind: item.ItemAdded{Item: item.UserMessage{Text: "see", Images: item.NewImages(images...)}}}
}

// hasImages says which of some images the store has.
func (f *fixture) hasImages(all ...string) (has string) {
	f.Helper()
	for _, b := range all {
		data, err := f.s.Image(f.Context(), picture(b).Digest)
		switch {
		case err == nil && string(data) == b:
			has += b
		case err == nil:
			f.Fatalf("the image %q has the bytes %q", b, data)
		case item.ReasonOf(err) != store.ReasonImageNotFound || item.KindOf(err) != item.KindNotFound:
			f.Fatalf("the image %q: %v", b, err)
		}
	}
	return has
}

// The bytes of an image are there as long as an entry of any log refers to them, and gone
// with the last: after a delete and a purge, and not after a rewind or while a fork shares
// the entry. A restart changes nothing of that.
func imagesStayAsLongAsTheirEntries(f *fixture) {
	p := f.pod("p")
	p.batch(store.Batch{Entries: []item.Entry{pictured(1, "a", "b"), pictured(2, "b", "c")}, Images: bytesOf("a", "b", "c")})
	submit := item.Submitted{
		RequestID: "r", Segments: []item.Segment{item.ImageSegment{Image: picture("d")}},
		Items: []item.Item{item.SystemMessage{Origin: item.OriginFileRef, Images: item.NewImages(picture("e"))}},
	}
	p.batch(store.Batch{Entries: []item.Entry{{Time: at(3), Kind: submit}}, Images: bytesOf("d", "e", "unused")})
	result := item.ToolResult{CallID: "c", Output: item.Output{Images: item.NewImages(picture("f"))}}
	p.batch(store.Batch{Entries: []item.Entry{{Time: at(4), Kind: item.ItemAdded{Item: result}}}, Images: bytesOf("f")})
	all := []string{"a", "b", "c", "d", "e", "f", "unused"}
	want := func(when, images string) {
		f.Helper()
		for range 2 {
			equal(f, "images "+when, f.hasImages(all...), images)
			f.reopen()
		}
	}
	want("after they came", "abcdef")
	p.append(item.Entry{Time: at(5), Kind: item.Rewind{To: 1}})
	want("after a rewind", "abcdef")
	q := f.pod("q")
	q.append(pictured(6, "c"))
	r := p.fork("r", 2)
	purge := store.Purge{Pod: "p", UpTo: 3, Last: 5, Mark: item.Entry{Time: at(7), Kind: item.Purged{From: 3}}}
	f.must(f.s.Purge(f.Context(), purge))
	if has := f.hasImages(all...); !strings.HasPrefix(has, "abc") || !strings.HasSuffix(has, "f") {
		f.Fatalf("after a purge of what a fork shares, the images %s are left", has)
	}
	f.must(f.s.DeletePod(f.Context(), r.id))
	want("after the fork was deleted", "cf")
	f.must(f.s.DeletePod(f.Context(), p.id))
	want("after the first pod was deleted", "c")
	f.must(f.s.DeletePod(f.Context(), q.id))
	want("after all pods were deleted", "")
}

// An image that the store does not get, that has another digest or none, is refused, with all
// of its batch.
func badImagesAreRefused(f *fixture) {
	p := f.pod("p")
	wrong := map[string][]byte{picture("a").Digest: []byte("b")}
	short := item.Entry{Kind: item.ItemAdded{Item: item.UserMessage{Images: item.NewImages(item.Image{Digest: "abc"})}}}
	upper := pictured(1, "a")
	upper.Kind.(item.ItemAdded).Item.(item.UserMessage).Images.List()[0].Digest = strings.ToUpper(picture("a").Digest)
	for _, b := range []store.Batch{
		{Entries: []item.Entry{note(1), pictured(2, "a")}},
		{Entries: []item.Entry{pictured(1, "a")}, Images: wrong},
		{Entries: []item.Entry{short}},
		{Entries: []item.Entry{upper}, Images: bytesOf("a")},
	} {
		_, err := p.try(b)
		equal(f, "reason", item.ReasonOf(err), store.ReasonBadBatch)
	}
	equal(f, "entries", len(p.log()), 0)
	equal(f, "images", f.hasImages("a", "b"), "")
	_, err := f.s.Image(f.Context(), "../etc/passwd")
	equal(f, "reason", item.ReasonOf(err), store.ReasonImageNotFound)
}

// A pod has images up to a limit. One that it has already counts once, in a fork those of the
// parent do not count, and what is refused leaves nothing behind.
func imagesAreBounded(f *fixture) {
	p := f.pod("p")
	try := func(o *owned, limit int64, all ...string) string {
		f.Helper()
		_, err := o.try(store.Batch{Entries: []item.Entry{pictured(1, all...)}, Images: bytesOf(all...), ImageLimit: limit})
		return item.ReasonOf(err)
	}
	equal(f, "two images of five bytes", try(p, 10, "12345", "abcde"), "")
	equal(f, "the same again", try(p, 10, "12345", "12345", "abcde"), "")
	equal(f, "one more", try(p, 10, "x"), store.ReasonImagesFull)
	equal(f, "no limit", try(p, 0, "y"), "")
	equal(f, "under a limit that was lowered", try(p, 1, "12345"), "")
	equal(f, "in a fork", try(p.fork("q", 2), 10, "12345", "1234x"), "")
	equal(f, "images", f.hasImages("x", "y", "1234x"), "y1234x")
	equal(f, "no limit at all", try(p, math.MaxInt64, "x"), "")
}
