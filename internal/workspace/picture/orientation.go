package picture

import (
	"bytes"
	"encoding/binary"
)

// tagOrientation is the number of an entry of EXIF.
const tagOrientation = 0x0112

// orientation is how a JPEG says that it is to be turned, 1 to 8 of EXIF; 1 where it does not
// say. Cameras store pixels as the sensor stands.
func orientation(data []byte) int {
	for marker, body := range segments(data) {
		if tiff, ok := bytes.CutPrefix(body, []byte("Exif\x00\x00")); ok && marker == markerExif {
			return exifOrientation(tiff)
		}
	}
	return 1
}

// exifOrientation reads the first directory of a TIFF block.
func exifOrientation(tiff []byte) int {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(tiff, []byte("II*\x00")):
		order = binary.LittleEndian
	case bytes.HasPrefix(tiff, []byte("MM\x00*")):
		order = binary.BigEndian
	default:
		return 1
	}
	if len(tiff) < 8 {
		return 1
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 1
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			return 1
		}
		if order.Uint16(entries) == tagOrientation {
			if v := int(order.Uint16(entries[8:])); v >= 1 && v <= 8 {
				return v
			}
			return 1
		}
		entries = entries[12:]
	}
	return 1
}
