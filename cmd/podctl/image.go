package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/wire"
)

// shownDigest is how many characters of a digest are shown, leastDigest how many name an image.
const (
	shownDigest = 12
	leastDigest = 4
)

func newImageCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "image [POD] [IMAGE] [FILE]",
		Short: "List a pod's images, or save one to a file",
		Long: "Lists the images in a pod's log: digest, first entry, description. With IMAGE, a name or the beginning of a " +
			"digest, it writes that image to FILE, or to standard output if FILE is - or missing. FILE must not exist yet. " +
			"The bytes are those that models get: podd reduces large images and converts GIF and WebP.",
		Example: "  podctl image api shot.png /tmp/shot.png",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 2 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return p.completeOfPod(1, images)(cmd, args, start)
		},
		RunE: p.onPod(runImage),
	}
}

func runImage(ctx context.Context, s *session, args []string) error {
	if len(args) == 1 {
		return listImages(ctx, s)
	}
	found, err := findImage(ctx, s, valid(args[1]))
	if err != nil {
		return err
	}
	return saveImage(ctx, s, found, strings.Join(args[2:], ""))
}

// loggedImage is an image and the first entry that has it.
type loggedImage struct {
	item.Image
	seq item.Seq
}

// allImages are the images in the pod's log, each name of an image once.
func allImages(ctx context.Context, s *session) (list []loggedImage, err error) {
	pod, err := s.Pod(ctx, s.pod)
	if err != nil {
		return nil, err
	}
	// Retention may have removed the beginning of the log.
	for m, err := range s.Stream(ctx, client.StreamOptions{Pod: s.pod, After: max(pod.GetFirstSeq()-1, 0)}) {
		if err != nil {
			return nil, err
		}
		if m.GetEntry() == nil {
			continue
		}
		e := wire.EntryFromProto(m.GetEntry())
		for _, image := range item.ImagesIn(e.Kind) {
			known := slices.ContainsFunc(list, func(l loggedImage) bool { return l.Digest == image.Digest && l.Name == image.Name })
			if !known {
				list = append(list, loggedImage{image, e.Seq})
			}
		}
	}
	return list, nil
}

func listImages(ctx context.Context, s *session) error {
	all, err := allImages(ctx, s)
	if err != nil {
		return err
	}
	var t table
	for _, image := range all {
		if s.output == outputText {
			t.row(fmt.Sprintf("%.*s", shownDigest, image.Digest), fmt.Sprintf("#%d", image.seq), image.String())
		} else if err := s.printJSON(wire.ImageToProto(image.Image)); err != nil {
			return err
		}
	}
	if len(all) == 0 && s.output == outputText {
		_, err := fmt.Fprintf(s.stderr, "pod %s has no images\n", sanitize.Line(s.pod))
		return err
	}
	return t.writeTo(s.stdout)
}

// findImage finds an image by its name, by the last part of its name, or by its digest.
func findImage(ctx context.Context, s *session, wanted string) (loggedImage, error) {
	list, err := allImages(ctx, s)
	if err != nil {
		return loggedImage{}, err
	}
	for _, is := range []func(loggedImage) bool{
		func(l loggedImage) bool { return l.Name == wanted },
		func(l loggedImage) bool { return path.Base(l.Name) == wanted },
		func(l loggedImage) bool { return len(wanted) >= leastDigest && strings.HasPrefix(l.Digest, wanted) },
	} {
		var found []loggedImage
		for _, image := range list {
			if is(image) && !slices.ContainsFunc(found, func(l loggedImage) bool { return l.Digest == image.Digest }) {
				found = append(found, image)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			var digests []string
			for _, image := range found {
				digests = append(digests, fmt.Sprintf("%.*s (#%d)", shownDigest, image.Digest, image.seq))
			}
			return loggedImage{}, usagef("pod %s has %d images %q: name one by its digest: %s", s.pod, len(found), wanted, strings.Join(digests, ", "))
		}
	}
	return loggedImage{}, item.Errorf(item.KindNotFound, "IMAGE_NOT_FOUND", "pod %s has no image %q: podctl image %s lists them", s.pod, wanted, s.pod)
}

// saveImage writes an image to a file that does not exist yet; "" and "-" are standard output.
func saveImage(ctx context.Context, s *session, image loggedImage, file string) error {
	if _, is := terminal(s.stdout); is && (file == "" || file == "-") {
		return usagef("image does not write to a terminal: name a FILE, or redirect the output")
	}
	data, err := s.Image(ctx, image.Digest)
	if err != nil {
		return err
	}
	if file == "" || file == "-" {
		_, err := s.stdout.Write(data)
		return err
	}
	if err := writeNewFile(file, data); err != nil {
		return err
	}
	return s.print(wire.ImageToProto(image.Image), line("saved %s as %s: %s", sanitize.Line(image.String()), sanitize.Line(file), sanitize.Line(image.MediaType)))
}

// writeNewFile writes a file that does not exist yet. After a failure none is there.
func writeNewFile(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return item.Errorf(item.KindExists, "FILE_EXISTS", "%s already exists: choose another name", name)
	}
	if err == nil {
		_, err = f.Write(data)
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			_ = os.Remove(name)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot save the image: %w", err)
	}
	return nil
}

// images finds the images of a pod, by name and digest.
func images(ctx context.Context, s *session, offer func(value, about string)) error {
	all, err := allImages(ctx, s)
	for _, image := range all {
		for _, name := range []string{image.Name, image.Digest[:min(shownDigest, len(image.Digest))]} {
			if name != "" {
				offer(name, image.String())
			}
		}
	}
	return err
}
