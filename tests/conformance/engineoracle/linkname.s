// Lets inventory.go declare a function without a body.
