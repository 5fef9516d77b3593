package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"podd/pkg/item"
)

// readImages reads the files of --image. podd looks whether they are images.
func readImages(paths []string) (list []item.Segment, err error) {
	if len(paths) > item.MaxImages {
		return nil, usagef("a prompt can have at most %d images", item.MaxImages)
	}
	room := int64(item.MaxImagesBytes)
	for _, path := range paths {
		data, err := readImage(path, room)
		if err != nil {
			return nil, err
		}
		room -= int64(len(data))
		list = append(list, item.ImageSegment{Image: item.Image{Name: valid(filepath.Base(path)), Data: data}})
	}
	return list, nil
}

// readImage reads a file of at most room bytes.
func readImage(path string, room int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, cannotRead(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, cannotRead(path, err)
	case info.IsDir():
		return nil, usagef("cannot read image %q: it is a directory", path)
	case info.Mode().IsRegular() && info.Size() > room:
		return nil, usagef("image %q is too large: the images of a prompt can have %d MiB together", path, item.MaxImagesBytes>>20)
	}
	data, err := io.ReadAll(io.LimitReader(f, room+1))
	switch {
	case err != nil:
		return nil, cannotRead(path, err)
	case int64(len(data)) > room:
		return nil, usagef("image %q is too large: the images of a prompt can have %d MiB together", path, item.MaxImagesBytes>>20)
	case len(data) == 0:
		return nil, usagef("image %q is empty", path)
	}
	return data, nil
}

func cannotRead(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("cannot read image %q: %w", path, err)
}
