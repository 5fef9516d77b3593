package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

const signature = "\x89PNG\r\n\x1a\n"

// sound is a PNG without the chunks that no picture needs and whose checksum is wrong. Browsers
// skip them, and some programs write them; Go's decoder and model servers refuse the file.
func sound(data []byte) []byte {
	rest, ok := bytes.CutPrefix(data, []byte(signature))
	if !ok {
		return data
	}
	kept := []byte(signature)
	for len(rest) >= 12 {
		length := uint64(binary.BigEndian.Uint32(rest))
		if length+12 > uint64(len(rest)) {
			break
		}
		chunk := rest[:length+12]
		rest = rest[length+12:]
		optional := chunk[4]&0x20 != 0
		if optional && crc32.ChecksumIEEE(chunk[4:length+8]) != binary.BigEndian.Uint32(chunk[length+8:]) {
			continue
		}
		kept = append(kept, chunk...)
	}
	if kept = append(kept, rest...); len(kept) == len(data) {
		return data
	}
	return kept
}
