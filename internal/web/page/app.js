document.getElementById("app").textContent = "podd";
