// SPDX-License-Identifier: Apache-2.0
package main

import (
	"math/rand"
	"strings"

	"github.com/Masterminds/semver/v3"
)

var versions = []string{
	"", "1", "v1", "1.2", "1.2.3", "v1.2.3", "V1.2.3", "01.2.3", "1.02.3", "1.2.03", "1.2.3.4", "1.2.3-", "1.2.3+", "1.2.3-a+",
	"1.2.3-alpha", "1.2.3-alpha.1", "1.2.3-alpha.01", "1.2.3-01", "1.2.3-0", "1.2.3-a..b", "1.2.3-a.b.", "1.2.3+build",
	"1.2.3+build.01", "1.2.3-rc.1+build.5", "1.2.3+b-1-2", "1.2-beta", "1-beta", "v1-beta.2+x", "1..2", ".1", "a", "1.a", "1.2.a",
	"18446744073709551615.0.0", "18446744073709551616.0.0", "1.18446744073709551616.0", "1.2.99999999999999999999999", " 1.2.3",
	"1.2.3 ", "1.2.3\n", "1.2.3-é", "1.2.3-\xff", "0.0.0", "0.0.1", "0.1.0", "0.0.0-0", "1.0.0-rc1", "1.3.0-rc1", "2.0.0", "2.0.0-0",
	"1.33.4-gke.1", "v1.33.4-gke.1", "1.2.3-4.5.6", "1.2.3-4.10.6", "1.2.3-a.b.c", "1.2.3-a.b", "1.2.3-18446744073709551616", "1.2.4-beta.2",
	"1.2.3-beta.4", "4.1.0", "5.1.0-alpha.1", "1.9.9", "1.4.5", "1.1.5", "1.2.9", "11.1.0", "12.0.0", "0.2.3", "0.2.5", "0.3.0", "0.0.3", "0.0.4",
	"v", "vv1", "1.2.3--", "1.2.3---1", "1.2.3-1-", "+1.2.3", "-1", "1,2", "1.2.x", "x", "*",
	"1.2.3-" + strings.Repeat("a", 250), "1.2.3-" + strings.Repeat("a", 251), "1." + strings.Repeat("0", 250) + "1", strings.Repeat("9", 256),
}

var constraints = []string{
	"", " ", "*", "x", "X", ">=0.0.0-0", ">0.0.0-0", "=1.2.3", "1.2.3", "==1.2.3", "= 1.2.3", "!=1.2.3", "!=1", "!=1.2", "!=1.2.x", "!=4.1", "!=4.x",
	">1", ">1.1", ">1.1.5", ">11", ">11.1", ">=1", ">=1.2", ">=1.22.0", ">=1.22.0-0", "=>1.2", "<1", "<1.2", "<1.2.3", "<=1", "<=1.2", "<=1.2.3", "=<1.2",
	"~1", "~1.2", "~1.2.3", "~>1.2", "~> 1.2.3", "~1.2.3-beta.2", "~0", "~0.0", "~0.0.0", "~*", "~1.x", "^1", "^1.2", "^1.2.3", "^0", "^0.0", "^0.0.3", "^0.2", "^0.2.3",
	"^0.2.x", "^*", "^1.2.3-0", "1.2 - 1.4.5", "1.2 - 1", "1.2.3 - 2.x", "1.2-beta - 2", " 1.2  -  1.4.5 ", "1.2 -1.4", ">1.2 - 3", "1.2.3.4 - 5",
	"1 - 2 || 3 - 4", "1 - 2, 3 - 4", "1 - 2 - 3", "v1.2 - v1.4", ">=1.2 <2", ">=1.2, <2", ">=1.2,<2", ">=1.2 , <2", ">=1.2,,<2", ">=1.2 ,", ",1", "1,", ">=1.2<2",
	">=1.2 <2 || ^3.1.0-0", "^1||^2", "^1 || ", "|| ^1", "^1 | ^2", "1|2", "1.2|x.3", "1x", "1.2.3-", "1.2.3-a.", ">= 1.2.3, != 1.2.9", ">=1.2.3-0 <2", ">=1.2.3 <2.0.0-0",
	"=> 1.0 =< 2.0", "foo", ">", ">=", "~", "^", "><1", "> = 1", "1.2.3.4", "01.2.3", "1.02", "1.2.3-01", "=v1.2.3", ">=v1.22.0-0", ">=1.2.3+build", "1.2.3+build",
	"1.x.3", "x.1.2-beta", "1.*.0-beta", "1.2.*-beta", "*-0", ">*", "<*", "!=*", ">=*", "<=*", "99999999999999999999", ">=1.2.3\t<2", ">=1.2.3\n<2", ">=1.2.3\v<2", "\u00a01.2", "\"1.2\"",
	"1.2.3 1.2.3", "1 2 3", "^1.2.3-alpha.1 <2", "~v1.2", "!1.2", "!= 1.2.3-beta.4", strings.Repeat("1||", 31) + "1", strings.Repeat("1||", 32) + "1",
	strings.Repeat(" ", 511) + "1", strings.Repeat(" ", 512) + "1", "1.2.3-" + strings.Repeat("a", 251), strings.Repeat("1 - 2,", 60) + "1",
}

func text(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

func semverCases() {
	var good []*semver.Version
	for _, t := range versions {
		v, err := semver.NewVersion(t)
		_, strict := semver.StrictNewVersion(t)
		if err == nil {
			good = append(good, v)
			row("version", t, v.String(), "", text(strict))
		} else {
			row("version", t, "", err, text(strict))
		}
	}
	for _, a := range good {
		for _, b := range good {
			if len(a.Original()) < 40 && len(b.Original()) < 40 && rand.New(rand.NewSource(int64(len(a.Original())*64+len(b.Original())))).Intn(2) == 0 {
				row("compare", a.Original(), b.Original(), a.Compare(b))
			}
		}
	}
	for _, t := range constraints {
		constraintCase(t, good, 1)
	}
	random := rand.New(rand.NewSource(1))
	pieces := []string{"1", "2", "0", "x", "*", ".", ".", ".", "-", "-0", "-rc.1", "+b", " ", " ", ",", "||", " - ", "=", ">", "<", "~", "^", "!=", ">=", "<=", "v", "1.2", "0.1.2", "1.2.3", "^1", "~0.2 "}
	for i := 0; i < 1500; i++ {
		var b strings.Builder
		for n := random.Intn(7) + 1; n > 0; n-- {
			b.WriteString(pieces[random.Intn(len(pieces))])
		}
		constraintCase(b.String(), good, 12)
	}
}

// One line for the constraint, with '1' or '0' for every version that it was checked against.
func constraintCase(t string, good []*semver.Version, step int) {
	c, err := semver.NewConstraint(t)
	if err != nil {
		row("constraint", t, err)
		return
	}
	row("constraint", t, "")
	for i := len(t) % step; i < len(good); i += step {
		if len(good[i].Original()) > 40 {
			continue
		}
		ok, errs := c.Validate(good[i])
		var why []string
		for _, e := range errs {
			why = append(why, e.Error())
		}
		if ok != c.Check(good[i]) {
			panic("Check and Validate differ")
		}
		row("check", t, good[i].Original(), ok, strings.Join(why, "\n"))
	}
}
