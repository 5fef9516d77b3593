package picture

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"iter"
)

// maxMemory is how many bytes decoding an image may take.
const maxMemory = 256 << 20

// affordable refuses an image whose pixels take too much memory while they are decoded: few bytes
// of a file may stand for many pixels.
func affordable(data []byte, kind string, c image.Config) error {
	perPixel := depth(c.ColorModel)
	switch {
	case kind == "image/jpeg":
		perPixel = jpegDepth(data, c)
	case kind == "image/png" && len(data) > 28 && data[28] == 1:
		perPixel *= 1.5 // The passes of an interlaced image.
	}
	if need := perPixel * float64(c.Width) * float64(c.Height); need > maxMemory {
		return fmt.Errorf("takes %.0f MB of memory to decode, the limit is %d: reduce it first", need/1e6, maxMemory/1_000_000)
	}
	return nil
}

// depth is how many bytes a decoded pixel of a model has.
func depth(m color.Model) float64 {
	switch m {
	case color.GrayModel, color.AlphaModel:
		return 1
	case color.Gray16Model, color.Alpha16Model:
		return 2
	case color.YCbCrModel:
		return 3
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	}
	if _, is := m.(color.Palette); is {
		return 1
	}
	return 4
}

// jpegDepth is the same for a JPEG. Of a progressive one, the coefficients of all blocks stay in
// memory until the last scan: four bytes each.
func jpegDepth(data []byte, c image.Config) float64 {
	for marker, body := range segments(data) {
		if marker != markerBaseline && marker != markerExtended && marker != markerProgressive || len(body) < 6 {
			continue
		}
		each := 1.0
		if marker == markerProgressive {
			each = 5
		}
		area, most := 0, 1
		for comps := body[6:]; len(comps) >= 3; comps = comps[3:] {
			sampled := int(comps[1]>>4) * int(comps[1]&15)
			area, most = area+sampled, max(most, sampled)
		}
		per := each * float64(area) / float64(most)
		if c.ColorModel != color.YCbCrModel && c.ColorModel != color.GrayModel {
			per += 4 // The components become another image.
		}
		return per
	}
	return depth(c.ColorModel)
}

// The segments of a JPEG that podd looks at.
const (
	markerStart       = 0xd8
	markerBaseline    = 0xc0
	markerExtended    = 0xc1
	markerProgressive = 0xc2
	markerExif        = 0xe1
	markerScan        = 0xda
)

// segments are those before the first scan.
func segments(data []byte) iter.Seq2[byte, []byte] {
	return func(yield func(byte, []byte) bool) {
		if len(data) < 2 || data[0] != 0xff || data[1] != markerStart {
			return
		}
		for rest := data[2:]; len(rest) >= 4 && rest[0] == 0xff && rest[1] != markerScan; {
			length := int(binary.BigEndian.Uint16(rest[2:]))
			if length < 2 || len(rest) < 2+length || !yield(rest[1], rest[4:2+length]) {
				return
			}
			rest = rest[2+length:]
		}
	}
}
