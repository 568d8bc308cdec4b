print("refreshd")
