package picture_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/workspace/picture"
	"podd/pkg/item"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A WebP of 1x1 pixel.
const tinyWebP = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="

func noise(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(img.Pix)
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 255
	}
	return img
}

func plain(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	return img
}

func asPNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asJPEG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t *testing.T, data []byte) (item.Image, image.Image) {
	t.Helper()
	got, err := picture.Read(data, "shot.png")
	if err != nil {
		t.Fatal(err)
	}
	pixels, kind, err := image.Decode(bytes.NewReader(got.Data))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(got.Data)
	size := pixels.Bounds().Size()
	if "image/"+kind != got.MediaType || hex.EncodeToString(sum[:]) != got.Digest || got.Bytes != int64(len(got.Data)) ||
		size != image.Pt(got.Width, got.Height) || got.Name != "shot.png" {
		t.Errorf("%+v does not describe a %s of %v with %d bytes", got, kind, size, len(got.Data))
	}
	return got, pixels
}

// What a model looks at whole is kept byte for byte.
func TestSmallImagesAreKept(t *testing.T) {
	for name, data := range map[string][]byte{"png": asPNG(t, plain(20, 10)), "jpeg": asJPEG(t, plain(20, 10))} {
		got, _ := read(t, data)
		if !bytes.Equal(got.Data, data) || got.Width != 20 || got.Height != 10 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A PNG with a wrong checksum of a chunk that no picture needs, as a colour profile, is taken
// without that chunk. One whose pixels have a wrong checksum is broken.
func TestDamagedProfileIsLeftOut(t *testing.T) {
	data := asPNG(t, plain(20, 10))
	profile := append(binary.BigEndian.AppendUint32(nil, 4), "iCCPabcd\x00\x00\x00\x00"...)
	at := len("\x89PNG\r\n\x1a\n") + 25
	got, _ := read(t, append(append(append([]byte{}, data[:at]...), profile...), data[at:]...))
	if !bytes.Equal(got.Data, data) {
		t.Errorf("%v is stored with %d bytes, not %d", got, len(got.Data), len(data))
	}
	data[len(data)-14] ^= 1
	if _, err := picture.Read(data, "x"); err == nil || !strings.Contains(err.Error(), "is a broken image") {
		t.Errorf("%v", err)
	}
}

// Formats that not every model server reads become PNG; of a GIF the first frame counts.
func TestOtherFormatsBecomePNG(t *testing.T) {
	frame := func(c color.Color) *image.Paletted {
		f := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{c})
		return f
	}
	var b bytes.Buffer
	red := color.RGBA{255, 0, 0, 255}
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame(red), frame(color.Black)}, Delay: []int{1, 1}}); err != nil {
		t.Fatal(err)
	}
	got, pixels := read(t, b.Bytes())
	if r, g, _, _ := pixels.At(0, 0).RGBA(); got.MediaType != "image/png" || r != 0xffff || g != 0 {
		t.Errorf("%v, first pixel %v", got, pixels.At(0, 0))
	}
	webp, err := base64.StdEncoding.DecodeString(tinyWebP)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := read(t, webp); got.MediaType != "image/png" || got.Width != 1 {
		t.Errorf("%v", got)
	}
}

// Large images are reduced, to the same bytes each time.
func TestLargeImagesAreReduced(t *testing.T) {
	for name, data := range map[string][]byte{
		"wide":            asPNG(t, plain(4000, 100)),
		"many bytes":      asPNG(t, noise(800, 700)),
		"many jpeg bytes": asJPEG(t, noise(1500, 1500)),
	} {
		got, _ := read(t, data)
		if max(got.Width, got.Height) > 2000 || got.Bytes > 1_500_000 {
			t.Errorf("%s: %v", name, got)
		}
	}
	wide := asPNG(t, plain(4000, 100))
	first, _ := read(t, wide)
	if again, _ := read(t, wide); first.Width != 2000 || first.Height != 50 || again.Digest != first.Digest {
		t.Errorf("4000x100 became %v, then %v", first, again)
	}
}

// A reduced pixel is the mean of those that it stands for: fine lines turn grey, edges stay where
// they were, and transparent pixels have no colour.
func TestReducedPixelsAreMeans(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 3000, 240))
	for y := range 240 {
		for x := range 3000 {
			switch {
			case y < 60 && y%2 == 0:
				img.Set(x, y, color.Black)
			case y < 60:
				img.Set(x, y, color.White)
			case x < 1500:
				img.Set(x, y, color.NRGBA{R: 200, G: 100, B: 50, A: 255})
			case y < 180:
				img.Set(x, y, color.NRGBA{R: 255, A: 0})
			default:
				img.Set(x, y, color.NRGBA{B: 255, A: 128})
			}
		}
	}
	got, pixels := read(t, asPNG(t, img))
	if got.Width != 2000 || got.Height != 160 {
		t.Fatalf("%v", got)
	}
	for at, want := range map[image.Point]struct {
		color.NRGBA
		off uint8
	}{
		{1000, 21}:  {color.NRGBA{127, 127, 127, 255}, 43}, // A line and a half.
		{999, 100}:  {color.NRGBA{200, 100, 50, 255}, 0},
		{1000, 100}: {color.NRGBA{}, 0},
		{1999, 159}: {color.NRGBA{0, 0, 255, 128}, 1},
		{0, 159}:    {color.NRGBA{200, 100, 50, 255}, 0},
	} {
		c, _ := color.NRGBAModel.Convert(pixels.At(at.X, at.Y)).(color.NRGBA)
		near := func(a, b uint8) bool { return max(a, b)-min(a, b) <= want.off }
		if !near(c.R, want.R) || !near(c.G, want.G) || !near(c.B, want.B) || !near(c.A, want.A) {
			t.Errorf("the pixel at %v is %v, want %v", at, c, want.NRGBA)
		}
	}
}

// A picture that a camera stored lying on its side is turned.
func TestOrientationIsFollowed(t *testing.T) {
	img := plain(40, 20)
	for y := range 20 {
		for x := range 20 {
			img.Set(x, y, color.Black)
		}
	}
	data := asJPEG(t, img)
	for orientation, want := range map[uint16]struct{ width, dark int }{1: {40, 0}, 3: {40, 3}, 6: {20, 0}, 8: {20, 3}} {
		exif := []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00")
		binary.BigEndian.PutUint16(exif[len(exif)-4:], orientation)
		app := append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(exif)+2)), exif...)
		got, pixels := read(t, append(append(append([]byte{}, data[:2]...), app...), data[2:]...))
		end := pixels.Bounds().Max
		corners := []image.Point{{2, 2}, {end.X - 3, 2}, {2, end.Y - 3}, {end.X - 3, end.Y - 3}}
		if r, _, _, _ := pixels.At(corners[want.dark].X, corners[want.dark].Y).RGBA(); got.Width != want.width || r > 0x4000 {
			t.Errorf("orientation %d: %v, corner %d is %x", orientation, got, want.dark, r)
		}
	}
}

// header is the start of a PNG that says how large it is, and no more.
func header(w, h uint32) []byte {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	b = binary.BigEndian.AppendUint32(b, w)
	b = binary.BigEndian.AppendUint32(b, h)
	b = append(b, 8, 6, 0, 0, 0)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[12:]))
}

// progressive is a JPEG of one colour whose blocks come in one scan of a progressive image.
func progressive(w, h uint16, components byte) []byte {
	segment := func(marker byte, body ...byte) []byte {
		return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(body)+2)), body...)
	}
	frame := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{8}, h), w)
	frame, scan := append(frame, components), []byte{components}
	for c := range components {
		frame, scan = append(frame, c+1, 0x11, 0), append(scan, c+1, 0)
	}
	blocks := (int(w) + 7) / 8 * ((int(h) + 7) / 8) * int(components)
	return bytes.Join([][]byte{
		{0xff, 0xd8}, segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...), segment(0xc2, frame...),
		// One code of one bit: the difference to the block before is 0.
		segment(0xc4, append(append([]byte{0, 1}, make([]byte, 15)...), 0)...),
		segment(0xda, append(scan, 0, 0, 0)...), make([]byte, (blocks+7)/8), {0xff, 0xd9},
	}, nil)
}

// allocated is how many bytes of memory some work takes in all.
func allocated(work func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A small file may stand for much memory: of a progressive JPEG all coefficients are kept. What
// takes too much is refused before it is decoded; the rest is decoded and reduced within bounds.
func TestMemoryIsBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		data []byte
		says string
		most uint64
	}{
		"a progressive JPEG":              {progressive(2400, 1600, 3), "", 130 << 20},
		"a large progressive JPEG":        {progressive(7000, 7000, 3), "takes 735 MB of memory to decode, the limit is 268", 1 << 20},
		"a large grey progressive JPEG":   {progressive(3000, 2400, 1), "", 130 << 20},
		"a large JPEG":                    {asJPEG(t, plain(3000, 2400)), "", 80 << 20},
		"a large grey PNG":                {asPNG(t, image.NewGray(image.Rect(0, 0, 4000, 2500))), "", 64 << 20},
		"a large PNG of 16 bits a colour": {deep(7000, 7000), "takes 392 MB of memory to decode", 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			took := allocated(func() { _, err = picture.Read(tt.data, name) })
			if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("%v, want %q", err, tt.says)
			}
			if took > tt.most {
				t.Errorf("it takes %d MB", took>>20)
			}
		})
	}
}

// deep is the start of a PNG with 16 bits a colour.
func deep(w, h uint32) []byte {
	b := header(w, h)
	b[24] = 16
	return binary.BigEndian.AppendUint32(b[:29], crc32.ChecksumIEEE(b[12:29]))
}

// What is no image, a broken one or a huge one is refused; a huge one before it is decoded.
func TestWhatIsRefused(t *testing.T) {
	whole := asPNG(t, noise(50, 50))
	for name, tt := range map[string]struct {
		data []byte
		says string
	}{
		"nothing":      {nil, "is empty"},
		"text":         {[]byte("hello"), "is not a PNG, JPEG, GIF or WebP image"},
		"svg":          {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), "is not a PNG"},
		"cut":          {whole[:len(whole)/2], "is a broken image"},
		"header alone": {header(10, 10), "is a broken image"},
		"bomb":         {header(60_000, 60_000), "has 60000x60000 pixels, the limit is 50 megapixels"},
		"tall bomb":    {header(1, 50_000_000), "has 1x50000000 pixels, the limit of a side is 65535"},
		"wide bomb":    {header(50_000_000, 1), "has 50000000x1 pixels, the limit of a side is 65535"},
		"long line":    {header(1<<31-1, 1), "has 2147483647x1 pixels"},
		"large file":   {append(header(10, 10), make([]byte, picture.MaxFileBytes)...), "bytes, the limit is"},
	} {
		if _, err := picture.Read(tt.data, name); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
	}
}

// A name is shown on terminals and to models: it stays one short line.
func TestNamesAreOneLine(t *testing.T) {
	got, err := picture.Read(asPNG(t, plain(1, 1)), "a\nb\x1b[31m\u202e"+strings.Repeat("é", 300)+".png")
	if err != nil || len(got.Name) > 256 || strings.ContainsAny(got.Name, "\n\x1b\u202e") || !strings.HasSuffix(got.Name, ".png") {
		t.Errorf("%q, %v", got.Name, err)
	}
}

// Check tells the kind without decoding, and refuses what Read does.
func TestCheck(t *testing.T) {
	if kind, err := picture.Check(asPNG(t, noise(1200, 60))); kind != "image/png" || err != nil {
		t.Errorf("%q, %v", kind, err)
	}
	for says, data := range map[string][]byte{"has 60000x60000 pixels": header(60_000, 60_000), "is not a PNG": []byte("<svg/>")} {
		if _, err := picture.Check(data); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// Whatever the bytes are, Read returns, and what it returns is within the bounds.
func FuzzRead(f *testing.F) {
	webp, _ := base64.StdEncoding.DecodeString(tinyWebP)
	small := asJPEG(f, plain(4, 3))
	exif := "Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00"
	app := append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(exif)+2)), exif...)
	for _, seed := range [][]byte{
		nil, []byte("GIF89a"), header(3, 3), header(1<<31, 1<<31), webp, asPNG(f, plain(4, 3)), small,
		append(append(append([]byte{}, small[:2]...), app...), small[2:]...), []byte("RIFF\x00\x00\x00\x00WEBPVP8X"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := picture.Read(data, "fuzz")
		if err == nil && (got.Width < 1 || got.Height < 1 || max(got.Width, got.Height) > 2000 || got.Bytes > 1_500_000) {
			t.Errorf("%v", got)
		}
	})
}
