// Values under the pointer, zoom and linear or logarithmic axes for the charts of a page, drawn by uPlot.
(function () {
  "use strict";
  var dark = window.matchMedia("(prefers-color-scheme: dark)"), drawn = [];
  function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(); }
  function paint(name, more) { return function () { return colour(name) + (more || ""); }; }
  function raised(k) { return String(k).replace(/./g, function (c) { return c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[+c]; }); }
  function shown(v, digits, plain) {  // plain: whether 0.05 stands for 5·10⁻²; by its size where not given
    if (v === null || v === undefined) return "–";
    var size = Math.abs(v), parts = v.toExponential(digits - 1).split("e"), front = String(+parts[0]).replace("-", "−");
    if (v === 0 || (plain === undefined ? size >= 1e-4 && size < 1e5 : plain || (size >= 1 && size <= 10))) return String(+v.toPrecision(digits)).replace("-", "−");
    return (Math.abs(+parts[0]) === 1 ? front.slice(0, -1) : front + "·") + "10" + raised(+parts[1]);
  }
  function decades(u, axis, low, high) {  // ticks of a logarithmic axis
    var a = Math.log10(low), b = Math.log10(high), room = axis === 0 ? u.bbox.width / 90 : u.bbox.height / 45, found = [];
    var most = Math.max(3, Math.floor(room / devicePixelRatio)), step = Math.max(1, Math.ceil((b - a) / most)), k;
    for (k = Math.floor(a); k <= b; k++) {
      if (k % step === 0) (b - a < most / 3 ? [1, 2, 5] : [1]).forEach(function (m) { found.push(m * Math.pow(10, k)); });
    }
    return found.filter(function (v) { return low <= v && v <= high; });
  }
  document.querySelectorAll(".chart").forEach(function (box) {
    var data = JSON.parse(box.querySelector("script").textContent), svg = box.querySelector("svg.plot"), plot = null;
    var controls = box.querySelector(".controls"), out = box.querySelector("output"), log = data.log.slice(), names, whole;
    var place = svg.parentNode.insertBefore(document.createElement("div"), svg);
    place.className = "live"; place.tabIndex = 0;
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", svg.querySelector("title").textContent + ". " + svg.querySelector("desc").textContent);
    svg.style.display = "none"; controls.hidden = false;

    function fits(v, axis) { return v !== null && (v > 0 || !log[axis]); }
    function tables() {  // of each line: x, y and the ends of its band, where the axes have a place for them
      return data.lines.map(function (line) {
        var at = line.x.map(function (_, k) { return k; }).filter(function (k) { return fits(line.x[k], 0); });
        function column(values, otherwise) {
          return at.map(function (k) { return fits(values[k], 1) ? values[k] : otherwise; });
        }
        var own = [at.map(function (k) { return line.x[k]; }), column(line.y, null)];
        return line.low.length ? own.concat([column(line.high, null), column(line.low, data.y[0])]) : own;
      });
    }
    function pad(low, high) {
      if (!log[1]) return [low - 0.04 * (high - low || 1), high + 0.04 * (high - low || 1)];
      var share = Math.pow(high / low || 1, 0.04) || 1.5;
      return [low / (share === 1 ? 3 : share), high * (share === 1 ? 3 : share)];
    }
    function same() { return log[0] === data.log[0] && log[1] === data.log[1]; }
    function options() {
      var series = [{}], bands = [];
      names = [];
      data.lines.forEach(function (line) {
        var stroke = paint("series-" + line.role);
        names.push([series.length, line.label]);
        series.push({ stroke: stroke, width: line.width, dash: line.dash, points: { show: line.x.length <= 12, size: 6, fill: stroke } });
        if (!line.low.length) return;
        bands.push({ series: [series.length, series.length + 1], fill: paint("series-" + line.role, "33") });
        series.push({ width: 0, points: { show: false } }, { width: 0, points: { show: false } });
      });
      data.rings.forEach(function () {
        series.push({ stroke: paint("violated"), paths: function () { return null; }, points: { show: true, size: 16, width: 2, fill: "transparent" } });
      });
      var axes = [0, 1].map(function (k) {
        var axis = { stroke: paint("ink-soft"), grid: { stroke: paint("rule"), width: 0.6 }, ticks: { show: false }, size: k ? 64 : 30,
          border: { show: true, stroke: paint("ink-soft"), width: 0.8 },
          values: function (u, values) {
            var scale = u.scales["xy"[k]], plain = Math.max(Math.abs(scale.min), Math.abs(scale.max)) < 1e5 && (!log[k] || scale.min >= 1e-4);
            return values.map(function (v) { return v === null ? "" : shown(v, 6, plain); });
          } };
        if (log[k]) axis.splits = function (u, i, low, high) { return decades(u, k, low, high); };
        if (log[k]) axis.filter = function (u, values) { return values; };
        return axis;
      });
      return {
        width: place.clientWidth, height: data.height, legend: { show: false }, series: series, bands: bands, axes: axes,
        cursor: { drag: { x: true, y: false, dist: 8 }, y: false },
        scales: {
          x: { time: false, distr: log[0] ? 3 : 1, range: function (u, low, high) { return [low, high]; } },
          y: { distr: log[1] ? 3 : 1, range: function (u, low, high) {
            var part = u.scales.x.min > whole[0] || u.scales.x.max < whole[1];
            return same() && !part ? data.y : low === null ? data.y : pad(Math.max(low, part || !log[1] ? low : data.floor || low), high); } },
        },
        hooks: { draw: [mark], setCursor: [told], setScale: [function (u) {
          controls.querySelector("[data-do=all]").disabled = u.scales.x.min <= whole[0] && u.scales.x.max >= whole[1]; }] },
      };
    }
    function mark(u) {  // the words beside the rings
      var font = 12 * devicePixelRatio, edge = u.bbox.left + u.bbox.width;
      data.rings.filter(function (r) { return fits(r[0], 0) && fits(r[1], 1); }).forEach(function (r) {
        var x = u.valToPos(r[0], "x", true), y = u.valToPos(r[1], "y", true), late = x > edge - 8 * font;
        if (x < u.bbox.left || x > edge) return;
        u.ctx.font = "600 " + font + "px system-ui, sans-serif";
        u.ctx.fillStyle = colour("violated"); u.ctx.textAlign = late ? "right" : "left"; u.ctx.textBaseline = "alphabetic";
        u.ctx.fillText(r[2], x + (late ? -font : font), Math.max(y - font, u.bbox.top + font));
      });
    }
    function told(u) {
      var k = u.cursor.idx;
      if (k === null || k === undefined) return;
      var ring = data.rings.filter(function (r) { return r[0] === u.data[0][k]; }).map(function (r) { return ", " + r[2]; });
      out.textContent = data.index + " = " + shown(u.data[0][k], 6) + ": " + names.filter(function (n) {
        return n[1] && u.data[n[0]][k] !== undefined && u.data[n[0]][k] !== null;
      }).map(function (n) { return n[1] + " " + shown(u.data[n[0]][k], 5); }).join(", ") + ring.join("");
    }
    function draw() {
      var own = tables().concat(data.rings.filter(function (r) { return fits(r[0], 0); }).map(function (r) { return [[r[0]], [r[1]]]; }));
      var joined = uPlot.join(own), x = joined[0];
      if (plot) plot.destroy();
      whole = same() ? data.x : [x[0], x[x.length - 1]];
      plot = new uPlot(options(), joined, place);
      part(whole[0], whole[1]);
      ["x", "y"].forEach(function (name, k) {
        controls.querySelector("[data-do=" + name + "]").textContent = (log[k] ? "Linear " : "Logarithmic ") + name + " axis";
      });
    }
    function part(low, high) { plot.setScale("x", { min: low, max: high }); }
    function act(what) {
      if (what === "all") part(whole[0], whole[1]);
      if (what === "in") {
        var middle = plot.cursor.left >= 0 ? plot.cursor.left : plot.over.clientWidth / 2, quarter = plot.over.clientWidth / 4;
        part(plot.posToVal(Math.max(0, middle - quarter), "x"), plot.posToVal(Math.min(4 * quarter, middle + quarter), "x"));
      }
      if (what === "x" || what === "y") { log[+(what === "y")] = !log[+(what === "y")]; draw(); }
    }
    function step(by) {
      var x = plot.data[0], k = plot.cursor.idx;
      k = k === null || k === undefined ? 0 : Math.max(0, Math.min(x.length - 1, k + by));
      plot.setCursor({ left: plot.valToPos(x[k], "x"), top: plot.over.clientHeight / 2 });
    }
    ["x", "y"].forEach(function (name, k) {
      var values = [].concat.apply([], data.lines.map(function (line) { return line[name]; }));
      controls.querySelector("[data-do=" + name + "]").hidden = values.filter(function (v) { return v > 0; }).length < 2;
    });
    controls.onclick = function (event) { if (event.target.dataset.do) act(event.target.dataset.do); };
    place.onkeydown = function (event) {
      var by = { ArrowLeft: -1, ArrowRight: 1 }[event.key], what = { "+": "in", "-": "all", "0": "all" }[event.key];
      if (by) step(by);
      if (what) act(what);
      if (by || what) event.preventDefault();
    };
    draw();
    drawn.push(function () { plot.setSize({ width: place.clientWidth, height: data.height }); });
  });
  function again() { drawn.forEach(function (size) { size(); }); }
  window.addEventListener("resize", again);
  dark.addEventListener("change", again);
  new MutationObserver(again).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
})();
