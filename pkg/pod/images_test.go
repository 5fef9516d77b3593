package pod_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// drawing is a PNG; each n gives another.
func drawing(t *testing.T, n, width, height int) string {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	img.Set(0, 0, color.RGBA{R: uint8(n), A: 255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// attach is the segments of a prompt with images.
func attach(text string, images ...string) []item.Segment {
	list := []item.Segment{item.TextSegment{Text: text}}
	for i, data := range images {
		list = append(list, item.ImageSegment{Image: item.Image{Name: fmt.Sprintf("user%d.png", i), Data: []byte(data)}})
	}
	return list
}

func (h *house) submitImages(text string, images ...string) pod.Submitted {
	h.t.Helper()
	got, err := h.host.Submit(h.t.Context(), pod.Submit{Pod: "p", Segments: attach(text, images...), ParseRefs: true})
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

// sends says whether a request carries an image, byte for byte.
func sends(body, data string) bool {
	return strings.Contains(body, base64.StdEncoding.EncodeToString([]byte(data)))
}

// An image of a result is pruned with its content, and its summary names it. The user's images
// stay until a compaction. The log keeps both, and podd their bytes, until retention removes them.
func TestImagesArePruned(t *testing.T) {
	h := newHouse(t, summarizer(1<<30, steps(scripted.Say(call("read_file", `{"path":"shot.png"}`)))), tight, func(c *options) {
		c.Prune = fold.Config{Mode: fold.ModeTurns, Turns: fold.TurnsConfig{Protected: 1, MinSavings: 1}}
	})
	user, shot := drawing(t, 1, 400, 300), drawing(t, 2, 640, 400)
	h.write("shot.png", shot)
	h.ended(h.submitImages("one", user))
	if body := h.body(2); !sends(body, user) || !sends(body, shot) {
		t.Fatalf("the images are not sent: %.2000s", body)
	}
	h.run("two")
	h.run("three")
	body := h.context()
	if !sends(body, user) || sends(body, shot) || !strings.Contains(body, "read_file: shot.png, image 640x400, ") {
		t.Errorf("after a prune it sends %.2000s", body)
	}
	h.restart()
	if again := h.context(); again != body {
		t.Errorf("after a restart it sends %.2000s", again)
	}
	h.compact()
	if body := h.context(); sends(body, user) || strings.Contains(body, "image_url") {
		t.Errorf("after a compaction it sends %.2000s", body)
	}
	digests := map[string]bool{}
	for _, e := range h.log() {
		for _, i := range item.ImagesIn(e.Kind) {
			digests[i.Digest] = true
			if data, err := h.host.Store.Image(t.Context(), i.Digest); err != nil || string(data) != user && string(data) != shot {
				t.Errorf("%s: %d bytes, %v", i, len(data), err)
			}
		}
	}
	if len(digests) != 2 {
		t.Errorf("the log has %d images", len(digests))
	}
	// Retention removes the bytes with the entries.
	h.restart()
	h.sweep()
	for digest := range digests {
		_, err := h.host.Store.Image(t.Context(), digest)
		wantError(t, err, item.KindNotFound, "IMAGE_NOT_FOUND")
	}
}

// A submit has at most 20 images, attached or referred to. The attached ones come first, and a
// reference that finds no room says so.
func TestSubmitHasTwentyImages(t *testing.T) {
	h := newHouse(t, steps())
	for i := range 3 {
		h.write(fmt.Sprintf("ref%d.png", i), drawing(t, 100+i, 10, 10))
	}
	var images []string
	for i := range 21 {
		images = append(images, drawing(t, i, 10, 10))
	}
	_, err := h.host.Submit(t.Context(), pod.Submit{Pod: "p", Segments: attach("go", images...)})
	wantError(t, err, item.KindInvalid, "TOO_MANY_IMAGES")
	s := h.submitImages("look at @ref0.png, @ref1.png and @ref2.png", images[:18]...)
	if len(s.Alerts) != 1 || s.Alerts[0].Text != "@ref2.png is sent as text: ref2.png: a submit can have 20 images" {
		t.Errorf("alerts %+v", s.Alerts)
	}
	h.ended(s)
	body := h.body(1)
	for i, data := range images[:18] {
		if !sends(body, data) {
			t.Errorf("attached image %d is not sent", i)
		}
	}
	if n := strings.Count(body, `"type":"image_url"`); n != 20 {
		t.Errorf("%d images are sent", n)
	}
}

// narrow is the real store with a lower limit for the images of a pod; it remembers the one that
// it was given.
type narrow struct {
	store.Store
	limit, given int64
}

func (n *narrow) Append(ctx context.Context, b store.Batch) (store.Appended, error) {
	if b.ImageLimit > 0 {
		b.ImageLimit, n.given = n.limit, b.ImageLimit
	}
	return n.Store.Append(ctx, b)
}

// A pod whose images have reached the limit refuses a submit with another one, and stores nothing
// of it. A tool's result is stored with a sentence in place of the image, and the turn goes on. A
// fork has room again.
func TestPodIsFullOfImages(t *testing.T) {
	first, second := drawing(t, 1, 400, 300), drawing(t, 2, 640, 400)
	n := &narrow{limit: int64(max(len(first), len(second)))}
	h := newHouse(t, steps(scripted.Say(call("read_file", `{"path":"shot.png"}`), call("list_dir", `{}`))), func(c *options) {
		if c.Store != nil {
			n.Store, c.Store = c.Store, n
		}
	})
	h.write("shot.png", second)
	if end := h.ended(h.submitImages("one", first)); end.Outcome != item.OutcomeFinished {
		t.Fatalf("end %+v", end)
	}
	if n.given != 64<<20 {
		t.Errorf("a pod may have %d bytes of images", n.given)
	}
	r := results(h.log())
	if len(r) != 2 || r[0].Images != nil || !strings.HasPrefix(r[0].Summary, "read_file: shot.png, image 640x400") ||
		r[0].Content != "[The images are left out: the pod has as many bytes of images as it may have. A person can fork it to go on.]" {
		t.Errorf("results %+v", r)
	}
	if body := h.body(2); sends(body, second) || !sends(body, first) || !strings.Contains(body, "The images are left out: the pod has") {
		t.Errorf("request 2 is %.2000s", body)
	}
	before := len(h.log())
	submit := pod.Submit{Pod: "p", Segments: attach("two", second), RequestID: "r2"}
	_, err := h.host.Submit(t.Context(), submit)
	wantError(t, err, item.KindExhausted, "IMAGES_FULL")
	if !strings.Contains(fmt.Sprint(err), "fork the pod") || len(h.log()) != before {
		t.Errorf("%v; %d entries more", err, len(h.log())-before)
	}
	// A refused submit does not count: the same request id with other content is admitted.
	submit.Segments = attach("two", first)
	if s, err := h.host.Submit(t.Context(), submit); err != nil || s.Duplicate {
		t.Errorf("%+v, %v", s, err)
	} else {
		h.ended(s)
	}
	if _, err := h.host.Fork(t.Context(), "p", "q", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := h.host.Submit(t.Context(), pod.Submit{Pod: "q", Segments: attach("two", second)}); err != nil {
		t.Errorf("the fork: %v", err)
	}
	n.limit = math.MaxInt64
	h.ended(h.submitImages("three", second))
}

// A submit with an image that podd was killed before its request was sent, or while it was under
// way, is sent by the next podd, byte for byte as the first one would have sent it.
func TestKilledBeforeTheRequestOfAnImage(t *testing.T) {
	data := drawing(t, 1, 400, 300)
	asked, done := make(chan struct{}, 1), false
	h, f := newFaultyHouse(t, func(context.Context, scripted.Request) scripted.Reply {
		if done {
			return scripted.Say(scripted.Text("seen"))
		}
		select {
		case asked <- struct{}{}:
		default:
		}
		return scripted.Say(scripted.Stall{})
	})
	// Nothing after the submit is stored.
	f.set(func(b store.Batch) error {
		if holds[item.TurnStarted](b) {
			return errKilled
		}
		return nil
	})
	s := h.submitImages("what is this?", data)
	h.kill(f)
	<-asked
	h.kill(f)
	<-asked
	done = true
	h.kill(f)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	requests := h.model.Requests()
	if len(requests) != 3 || !sends(string(requests[0]), data) {
		t.Fatalf("%d requests, the first is %.2000s", len(requests), requests[0])
	}
	for i := range requests {
		if !bytes.Equal(requests[i], requests[0]) {
			t.Errorf("request %d differs from the first: %.2000s", i+1, requests[i])
		}
	}
}

// A fork sends the images of its past. A rewind takes them out of requests and leaves them in the
// log. The bytes go with the last pod that has an entry with them.
func TestImagesOfForksAndRewinds(t *testing.T) {
	h := newHouse(t, steps())
	first, second := drawing(t, 1, 400, 300), drawing(t, 2, 640, 400)
	end := h.ended(h.submitImages("one", first))
	if end.Outcome != item.OutcomeFinished {
		t.Fatalf("end %+v", end)
	}
	kept := item.Seq(len(h.log()))
	h.ended(h.submitImages("two", second))
	if _, err := h.host.Fork(t.Context(), "p", "q", kept); err != nil {
		t.Fatal(err)
	}
	if _, err := h.host.Rewind(t.Context(), "p", kept); err != nil {
		t.Fatal(err)
	}
	digest := map[string]string{}
	for _, e := range h.log() {
		for _, i := range item.ImagesIn(e.Kind) {
			data, err := h.host.Store.Image(t.Context(), i.Digest)
			if err != nil {
				t.Fatal(err)
			}
			digest[string(data)] = i.Digest
		}
	}
	for _, name := range []string{"p", "q"} {
		c, err := h.host.Context(t.Context(), name)
		if err != nil || !sends(string(c.Body), first) || sends(string(c.Body), second) {
			t.Errorf("%s sends %.2000s, %v", name, c.Body, err)
		}
	}
	has := func() (list []string) {
		for name, data := range map[string]string{"first": first, "second": second} {
			if _, err := h.host.Store.Image(t.Context(), digest[data]); err == nil {
				list = append(list, name)
			} else {
				wantError(t, err, item.KindNotFound, "IMAGE_NOT_FOUND")
			}
		}
		slices.Sort(list)
		return list
	}
	for _, step := range []struct{ remove, want string }{{"", "[first second]"}, {"p", "[first]"}, {"q", "[]"}} {
		if step.remove != "" {
			if err := h.host.Delete(t.Context(), step.remove); err != nil {
				t.Fatal(err)
			}
		}
		if got := fmt.Sprint(has()); got != step.want {
			t.Errorf("after %q was deleted podd has %s, want %s", step.remove, got, step.want)
		}
	}
}
