package fold_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// shot is an image of a size in pixels.
func shot(name string, width, height int) item.Image {
	return item.Image{Digest: strings.Repeat("a", 64), MediaType: "image/png", Name: name, Width: width, Height: height, Bytes: 214_000}
}

func shown(text string, images ...item.Image) item.Kind {
	return item.ItemAdded{Item: item.UserMessage{Text: text, Images: item.NewImages(images...)}}
}

// An image costs a token for each 750 pixels, whatever its bytes, where a model gets images.
func TestImagesAreEstimated(t *testing.T) {
	log := func(images ...item.Image) *fold.Context {
		return foldOf(t, item.Setup{Model: "m"}, shown("see", images...))
	}
	without := log().Tokens()
	for _, c := range []struct{ width, height, want int }{{1280, 800, 1366}, {1, 1, 1}, {750, 1, 1}, {751, 1, 2}, {2000, 2000, 5334}} {
		if got := log(shot("shot.png", c.width, c.height)).Tokens() - without; got != c.want {
			t.Errorf("%dx%d pixels add %d tokens, want %d", c.width, c.height, got, c.want)
		}
	}
	s := log(shot("a.png", 1280, 800), shot("b.png", 1280, 800))
	s.Add(item.Entry{Seq: 3, Kind: item.Setup{Model: "m", NoImages: true}})
	if got := s.Tokens(); got != without {
		t.Errorf("without images it is %d tokens, want %d", got, without)
	}
	s.Add(item.Entry{Seq: 4, Kind: item.Setup{Model: "m"}})
	if got := s.Tokens(); got != without+2*1366 {
		t.Errorf("with images again it is %d tokens, want %d", got, without+2*1366)
	}
}

// What an endpoint bills for an image says nothing about how many bytes of text make a token.
func TestBytesPerTokenLeaveImagesOut(t *testing.T) {
	l := newPodLog(t)
	billed := int64(1000)
	say := func(tokens int, images ...item.Image) float64 {
		billed += int64(tokens)
		l.append(shown(strings.Repeat("word ", 1000), images...), item.ItemAdded{Item: item.AssistantMessage{Text: "ok"}},
			item.RequestUsage{Measured: true, Usage: item.Usage{Input: billed}})
		_, size := l.state.Explain(time.Time{})
		return size.BytesPerToken
	}
	l.append(item.Setup{Model: "m"})
	say(1000)
	before := say(1000)
	if after := say(1000+40_000, shot("shot.png", 2000, 1500)); after != before {
		t.Errorf("an image moves bytes per token from %g to %g", before, after)
	}
	if after := say(1000); after <= before {
		t.Errorf("text of 5 bytes per token leaves bytes per token at %g, was %g", after, before)
	}
}

// named are the images that the next request carries, and stubs the texts of the items that lost
// theirs.
func (l *podLog) named() (sent, stubs []string) {
	parts, _ := l.state.Explain(time.Time{})
	for _, p := range parts {
		images := item.ImagesOf(p.Item)
		for _, image := range images {
			sent = append(sent, image.Name)
		}
		if p.Pruned {
			switch it := p.Item.(type) {
			case item.ToolResult:
				stubs = append(stubs, it.Text())
			case item.UserMessage:
				stubs = append(stubs, it.Text)
			}
		}
	}
	return sent, stubs
}

func pictures(prefix string, n int) (all []item.Image) {
	for i := range n {
		all = append(all, shot(fmt.Sprintf("%s%d.png", prefix, i), 100, 100))
	}
	return all
}

// reads are calls that each read an image, in one step.
func (l *podLog) reads(images ...item.Image) {
	var results []item.Kind
	for _, image := range images {
		l.calls++
		id := fmt.Sprint("c", l.calls)
		l.append(item.ItemAdded{Item: item.ToolCall{CallID: id, Name: "read_file", Arguments: "{}"}})
		results = append(results, item.ItemAdded{Item: item.ToolResult{CallID: id, Tool: "read_file", Output: item.Output{
			Summary: "read_file: " + image.String(), Kind: item.OutputRead, Images: item.NewImages(image),
		}}})
	}
	l.append(item.RequestUsage{Step: l.calls})
	l.append(results...)
}

// A request carries at most 20 images. Results that a request has carried go first, the oldest
// first and down to ten, so that not each further image breaks the cache; in their place the
// model reads their names.
func TestTwentyImages(t *testing.T) {
	l := newPodLog(t)
	l.append(item.Setup{Model: "m"}, shown("go\n[user.png, image 100x100, 214 KB]\n", shot("user.png", 100, 100)))
	for i := range 19 {
		l.reads(shot(fmt.Sprintf("r%d.png", i), 100, 100))
		if l.prune() {
			t.Fatalf("pruned with %d images", i+2)
		}
	}
	l.reads(shot("r19.png", 100, 100))
	if !l.prune() {
		t.Fatal("21 images are sent")
	}
	sent, stubs := l.named()
	want := []string{"user.png", "r11.png", "r12.png", "r13.png", "r14.png", "r15.png", "r16.png", "r17.png", "r18.png", "r19.png"}
	if !slices.Equal(sent, want) {
		t.Errorf("sent %q", sent)
	}
	if len(stubs) != 11 || stubs[0] != "read_file: r0.png, image 100x100, 214 KB" {
		t.Errorf("in their place %q", stubs)
	}
	if l.prune() {
		t.Error("it prunes twice")
	}
}

// Where the results do not suffice, the user's oldest images go, and then, up to the limit alone,
// what no request has carried. A request without images needs none of that.
func TestTwentyImagesOfTheUser(t *testing.T) {
	for name, c := range map[string]struct {
		log  func(*podLog)
		want []string
	}{
		"older ones of the user": {func(l *podLog) {
			l.append(shown("first", pictures("a", 15)...))
			l.reads(pictures("r", 3)...)
			l.append(item.ItemAdded{Item: item.AssistantMessage{Text: "ok"}}, item.RequestUsage{Step: 99}, shown("second", pictures("b", 20)...))
		}, names(pictures("b", 20))},
		"many new results": {func(l *podLog) {
			l.append(shown("go"))
			l.reads(pictures("r", 25)...)
		}, names(pictures("r", 25)[5:])},
		"new results beside the user's": {func(l *podLog) {
			l.append(shown("go", pictures("a", 10)...))
			l.append(item.ItemAdded{Item: item.AssistantMessage{Text: "ok"}}, item.RequestUsage{Step: 98})
			l.reads(pictures("r", 15)...)
		}, names(pictures("r", 15))},
		"a model without images": {func(l *podLog) {
			l.append(item.Setup{Model: "m", NoImages: true}, shown("go", pictures("a", 20)...), shown("go", pictures("b", 20)...))
		}, append(names(pictures("a", 20)), names(pictures("b", 20))...)},
	} {
		t.Run(name, func(t *testing.T) {
			l := newPodLog(t)
			l.append(item.Setup{Model: "m"})
			c.log(l)
			d := l.state.Decide(l.now)
			l.prune()
			if sent, _ := l.named(); !slices.Equal(sent, c.want) {
				t.Errorf("sent %q, want %q; %s", sent, c.want, d.Reason)
			}
		})
	}
}

func names(images []item.Image) (all []string) {
	for _, image := range images {
		all = append(all, image.Name)
	}
	return all
}
