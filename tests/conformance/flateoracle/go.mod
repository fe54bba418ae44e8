module flateoracle

go 1.26
