// placeholder, goes with the first real file
