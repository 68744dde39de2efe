// Reading works without this file. It says when the connection is lost, shows the page of a run
// that has ended, and lets files be dropped anywhere on the library.
(() => {
  const banner = document.querySelector(".offline");
  const lost = (is) => { if (banner) banner.hidden = !is; };
  addEventListener("offline", () => lost(true));
  addEventListener("online", () => lost(false));
  const live = document.getElementById("live");
  if (live) {
    // Whoever is typing keeps what they typed, and whoever has just pressed a button goes where it leads.
    const notice = document.getElementById("ended");
    const typing = () => [...document.querySelectorAll(".steer input[type=text]")].some(
      (box) => box.value.trim() || box === document.activeElement);
    live.addEventListener("ended", () => {
      if (leaving) return;
      if (typing()) notice.hidden = false; else location.reload();
    });
    live.addEventListener("htmx:sse:error", () => lost(!leaving));
    for (const name of ["htmx:sse:after:connection", "htmx:sse:after:message"])
      live.addEventListener(name, () => lost(false));
  }
  let leaving = false;
  addEventListener("beforeunload", () => { leaving = true; });
  const form = document.querySelector("form.drop");
  if (form) {
    const input = form.querySelector("input[type=file]");
    const over = (is) => form.classList.toggle("over", is);
    addEventListener("dragover", (event) => { event.preventDefault(); over(true); });
    addEventListener("dragleave", (event) => { if (!event.relatedTarget) over(false); });
    addEventListener("drop", (event) => {
      event.preventDefault();
      over(false);
      if (event.dataTransfer.files.length) { input.files = event.dataTransfer.files; form.requestSubmit(); }
    });
    input.addEventListener("change", () => form.requestSubmit());
    form.addEventListener("submit", () => form.classList.add("busy"));
  }
  const question = document.getElementById("question");
  if (question)
    question.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) question.form.requestSubmit();
    });
})();
