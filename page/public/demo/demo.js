// What the shop's own page does with the calculator: listens to the element, and draws its price list itself.
import { estimate } from "../npm/index.js";

const said = document.getElementById("said");
document.getElementById("calculator").addEventListener("cardfit:order", ({ detail }) => {
  said.textContent = `已选择 ${detail.count} × ${detail.card}，正在打开下单页…`;
});

const feed = await (await fetch("feed.json")).json();
const answer = await estimate("m=qwen2.5-7b&do=lora&samples=10000&epochs=3", { feed, lang: "zh-CN" });
const rows = answer.offers
  .filter((offer) => offer.fit === "fits" && offer.cost_of_job)
  .map((offer) => {
    const row = document.createElement("tr");
    const cell = (text, tag = "td") => {
      const element = document.createElement(tag);
      element.textContent = text;
      row.append(element);
      return element;
    };
    cell(`${offer.count} × ${offer.card_name}`);
    cell(offer.shop.region ?? "");
    cell(`¥${offer.price.per_card_hour.toFixed(2)}`);
    cell(`${offer.hours.mid.toFixed(1)} 小时`);
    const cost = document.createElement("b");
    cost.textContent = `¥${offer.cost_of_job.low.toFixed(0)}–${offer.cost_of_job.high.toFixed(0)}`;
    cell("").append(cost);
    const rent = document.createElement("a");
    rent.textContent = "租用";
    rent.href = offer.shop.order_url;
    cell("").append(rent);
    return row;
  });
document.getElementById("rows").replaceChildren(...rows);
