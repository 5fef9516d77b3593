package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// leastArrows is how many arrows a package has at least to be shown.
const leastArrows = 30

// drawing are the files of a package. An arrow leads from a file to another one whose functions it uses.
type drawing struct {
	pkg    string
	arrows map[[2]string]bool
	// up are the arrows against the order of the files in which few are.
	up int
}

// draw draws the packages of the module in the current directory, which it builds for the types.
func draw() ([]drawing, error) {
	list, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{if .Module}}{{.Module.Main}}{{end}}\t{{.Dir}}\t{{join .GoFiles \" \"}}", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("cannot list the packages: %w", err)
	}
	exports, ours := map[string]string{}, [][]string{}
	for lines := bufio.NewScanner(bytes.NewReader(list)); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		if exports[fields[0]] = fields[1]; fields[2] == "true" && len(strings.Fields(fields[4])) > 1 {
			ours = append(ours, fields)
		}
	}
	var all []drawing
	for _, fields := range ours {
		d := drawing{pkg: fields[0], arrows: map[[2]string]bool{}}
		if err := d.read(fields[3], strings.Fields(fields[4]), exports); err != nil {
			return nil, err
		}
		d.order()
		all = append(all, d)
	}
	return all, nil
}

// read finds the arrows.
func (d *drawing) read(dir string, names []string, exports map[string]string) error {
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	c := types.Config{Importer: importer.ForCompiler(set, "gc", open)}
	pkg, err := c.Check(d.pkg, set, files, &info)
	if err != nil {
		return err
	}
	for use, of := range info.Uses {
		if f, ok := of.(*types.Func); ok && f.Pkg() == pkg && f.Pos().IsValid() {
			from, to := filepath.Base(set.File(use.Pos()).Name()), filepath.Base(set.File(f.Pos()).Name())
			if from != to {
				d.arrows[[2]string{from, to}] = true
			}
		}
	}
	return nil
}

// order puts the files in an order with few arrows up: from below the files that use nothing left, from above those that
// nothing left uses, and otherwise from above the one that uses the most compared with what uses it.
func (d *drawing) order() {
	left, place := map[string]bool{}, map[string]int{}
	for a := range d.arrows {
		left[a[0]], left[a[1]] = true, true
	}
	for top, bottom := 0, len(left); top < bottom; {
		uses, used := d.degrees(left)
		next := slices.MinFunc(slices.Sorted(maps.Keys(left)), func(a, b string) int {
			return cmp.Or(cmp.Compare(min(uses[a], used[a], 1), min(uses[b], used[b], 1)), cmp.Compare(uses[b]-used[b], uses[a]-used[a]))
		})
		if uses[next] == 0 {
			bottom--
			place[next] = bottom
		} else {
			place[next] = top
			top++
		}
		delete(left, next)
	}
	for a := range d.arrows {
		if place[a[0]] > place[a[1]] {
			d.up++
		}
	}
}

// degrees count the arrows from and to each file, of those between files that are left.
func (d *drawing) degrees(left map[string]bool) (uses, used map[string]int) {
	uses, used = map[string]int{}, map[string]int{}
	for a := range d.arrows {
		if left[a[0]] && left[a[1]] {
			uses[a[0]]++
			used[a[1]]++
		}
	}
	return uses, used
}

// printArrows prints the packages with the largest parts of arrows up.
func printArrows(w io.Writer, all []drawing) {
	fmt.Fprintln(w, "\narrows back up inside a package: of those from a file to another one whose functions it uses")
	all = slices.DeleteFunc(all, func(d drawing) bool { return len(d.arrows) < leastArrows })
	slices.SortFunc(all, func(a, b drawing) int {
		return cmp.Or(b.up*len(a.arrows)-a.up*len(b.arrows), strings.Compare(a.pkg, b.pkg))
	})
	for _, d := range all[:min(mostTypes, len(all))] {
		fmt.Fprintf(w, "%6d %% %s (%d of %d)\n", 100*d.up/len(d.arrows), d.pkg, d.up, len(d.arrows))
	}
}
