print("refreshctl")
