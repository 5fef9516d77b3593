package picture

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // Registers the format.
	"image/jpeg"
	"image/png"
	"net/http"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	_ "golang.org/x/image/webp" // Registers the format.

	"podd/pkg/item"
)

// The bounds of images.
const (
	// MaxPixels is how many pixels an image may have; one with more is not decoded.
	MaxPixels = 50_000_000
	// MaxSide is how many pixels its width and its height may have: a line of pixels takes memory
	// besides the pixels. It is the limit of JPEG.
	MaxSide = 65_535
	// MaxFileBytes is how large the file of an image may be.
	MaxFileBytes = item.MaxImagesBytes
	// maxSide and maxBytes are what an image is reduced to.
	maxSide  = 2000
	maxBytes = 1_500_000
	// maxName is the longest name, in bytes.
	maxName = 256
)

// kinds are the media types of images.
var kinds = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// Kind is the media type of bytes that begin as an image does; empty for any others.
func Kind(data []byte) string {
	found := http.DetectContentType(data)
	for _, kind := range kinds {
		if found == kind {
			return kind
		}
	}
	return ""
}

// decoding lets one image be decoded at a time.
var decoding sync.Mutex

// Read makes an image of the bytes of a file. Its errors are sentences without a subject, such
// as "is empty": the caller names the image.
func Read(data []byte, name string) (item.Image, error) {
	data, kind, err := checked(data)
	if err != nil {
		return item.Image{}, err
	}
	decoding.Lock()
	defer decoding.Unlock()
	return guarded(func() (item.Image, error) { return read(data, kind, name) })
}

// Check says of which kind the bytes of an image are, without decoding it. It refuses what Read
// does not decode.
func Check(data []byte) (kind string, err error) {
	_, kind, err = checked(data)
	return kind, err
}

// checked are the bytes to decode, and their kind.
func checked(data []byte) (_ []byte, kind string, err error) {
	kind = Kind(data)
	switch {
	case len(data) == 0:
		return nil, "", errors.New("is empty")
	case kind == "":
		return nil, "", errors.New("is not a PNG, JPEG, GIF or WebP image: convert it first")
	case len(data) > MaxFileBytes:
		return nil, "", fmt.Errorf("has %d bytes, the limit is %d: reduce it first", len(data), MaxFileBytes)
	}
	if kind == "image/png" {
		data = sound(data)
	}
	config, err := guarded(func() (image.Config, error) {
		config, _, err := image.DecodeConfig(bytes.NewReader(data))
		return config, err
	})
	switch {
	case err != nil:
		return nil, "", broken(err)
	case config.Width <= 0 || config.Height <= 0:
		return nil, "", errors.New("has no pixels")
	case config.Width > MaxPixels/config.Height:
		return nil, "", fmt.Errorf("has %dx%d pixels, the limit is %d megapixels: reduce it first", config.Width, config.Height, MaxPixels/1_000_000)
	case max(config.Width, config.Height) > MaxSide:
		return nil, "", fmt.Errorf("has %dx%d pixels, the limit of a side is %d: crop or reduce it first", config.Width, config.Height, MaxSide)
	}
	return data, kind, affordable(data, kind, config)
}

// read decodes an image to its end, so that a broken one is found now, and reduces it.
func read(data []byte, kind, name string) (item.Image, error) {
	pixels, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return item.Image{}, broken(err)
	}
	turn := 1 // How the picture is to be turned.
	if kind == "image/jpeg" {
		turn = orientation(data)
	}
	size := pixels.Bounds().Size()
	// A GIF may have more frames than the first, which counts; some model servers read no WebP.
	if kind == "image/gif" || kind == "image/webp" || turn != 1 || len(data) > maxBytes || max(size.X, size.Y) > maxSide {
		if data, kind, size, err = reduce(upright(fit(pixels, maxSide), turn), kind); err != nil {
			return item.Image{}, err
		}
	}
	sum := sha256.Sum256(data)
	return item.Image{
		Digest: hex.EncodeToString(sum[:]), MediaType: kind, Width: size.X, Height: size.Y, Bytes: int64(len(data)),
		Name: cleanName(name), Data: data,
	}, nil
}

// guarded turns a panic of a decoder into an error: files come from anywhere.
func guarded[T any](decode func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = broken(fmt.Errorf("%v", p))
		}
	}()
	return decode()
}

func broken(err error) error { return fmt.Errorf("is a broken image (%w): save it again", err) }

// qualities are those of JPEG that are tried, from the best to the smallest.
var qualities = []int{85, 70, 50}

// reduce encodes pixels in at most maxBytes: a JPEG as JPEG, any other as PNG where that is
// small enough.
func reduce(pixels image.Image, from string) (data []byte, kind string, size image.Point, err error) {
	for {
		size = pixels.Bounds().Size()
		if from != "image/jpeg" {
			if data, err = encode(func(b *bytes.Buffer) error { return png.Encode(b, pixels) }); err != nil || len(data) <= maxBytes {
				return data, "image/png", size, err
			}
		}
		opaque := flat(pixels)
		for _, quality := range qualities {
			data, err = encode(func(b *bytes.Buffer) error { return jpeg.Encode(b, opaque, &jpeg.Options{Quality: quality}) })
			if err != nil || len(data) <= maxBytes {
				return data, "image/jpeg", size, err
			}
		}
		pixels = fit(pixels, max(size.X, size.Y)*3/4)
	}
}

func encode(write func(*bytes.Buffer) error) ([]byte, error) {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return nil, fmt.Errorf("cannot be reduced: %w", err)
	}
	return b.Bytes(), nil
}

// cleanName is a name on one line, of bounded length.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError {
			return '_'
		}
		return r
	}, name)
	for len(name) > maxName {
		_, size := utf8.DecodeRuneInString(name)
		name = name[size:]
	}
	return name
}
