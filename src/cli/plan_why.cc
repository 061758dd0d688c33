// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_why.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/plan_memory.h"
#include "nccl_api/environment.h"
#include "plan/tuner/file.h"

namespace detccl::cli {
namespace {

using engine::Option;
using plan::tuner::Terms;

struct Term {
  const char *column, *words;
  double Terms::*value;
};

constexpr Term kTerms[] = {
    {"call", "calls", &Terms::call},
    {"launch", "launches", &Terms::launch},
    {"latency", "latency", &Terms::latency},
    {"near", "bytes within groups", &Terms::near},
    {"far", "bytes between groups", &Terms::far},
    {"fold", "folds", &Terms::fold},
    {"hidden", "overlap", &Terms::hidden},
};

std::uint64_t chunk_bytes(const Why& why, const Option& option) {
  return engine::chunk_bytes(why.question, option.choice.chunk);
}

std::string words(const Why& why, const Option& option) {
  return fmt::format("{} in chunks of {}", plan::name(option.choice.schedule), chunk_bytes(why, option));
}

double percent(double more, double less) {
  return (more / less - 1) * 100;
}

/// By what `slower` loses most.
const char* decisive(const Terms& slower, const Terms& quicker) {
  const auto loss = [&](const Term& term) {
    const double more = slower.*term.value - quicker.*term.value;
    return term.value == &Terms::hidden ? -more : more;
  };
  return std::max_element(std::begin(kTerms), std::end(kTerms),
                          [&](const Term& a, const Term& b) { return loss(a) < loss(b); })
      ->words;
}

std::string reason(const Why& why, bool tuned) {
  const Option& quickest = why.options.front();
  const Option& rule = why.options[why.rule];
  if (why.options.size() == 1) return "there is nothing else";
  if (!tuned) return "no tuning file, so it goes by fixed limits: gather for small messages, else direct";
  if (why.rule == 0) return "the quickest, and what there would be without a tuning file";
  const Option& chosen = why.options[why.chosen];
  std::string other;
  if (why.chosen != 0) {
    other = fmt::format("{} is quicker than without a tuning file by {:.1f} % only, less than {:.0f} %",
                        words(why, quickest), (1 - quickest.choice.predicted / rule.choice.predicted) * 100,
                        quickest.gain * 100);
  }
  if (why.chosen == why.rule) return "without a tuning file it would be the same: " + other;
  return fmt::format("{}; without a tuning file it would be {}, which takes {:.1f} % more, most of it {}",
                     other.empty() ? "the quickest" : "the quickest that is quick enough: " + other,
                     words(why, rule), percent(rule.choice.predicted, chosen.choice.predicted),
                     decisive(rule.predicted, chosen.predicted));
}

}  // namespace

Why explain(engine::Settings settings, plan::tuner::Question question, bool host, const std::string& tuning) {
  Why why;
  why.question = question;
  if (tuning.empty()) {
    why.coefficients = plan::tuner::built_in(host ? "host" : "h200");
  } else if (tuning == "host" || tuning == "h200" || tuning == "gb200") {
    why.coefficients = plan::tuner::built_in(tuning);
  } else {
    why.coefficients = plan::tuner::read_file(tuning);
    why.figures = tuning + ": ";
  }
  if (!why.coefficients.name.empty()) why.figures = "built in, " + why.coefficients.name + ": ";
  why.figures += why.coefficients.source.empty() ? "no source given" : why.coefficients.source;

  const std::vector<Option> all = engine::options(settings, why.coefficients, question);
  const std::size_t chosen = tuning.empty() ? 0 : engine::best(all);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < all.size(); ++i)
    order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return all[a].choice.predicted < all[b].choice.predicted;
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    why.options.push_back(all[order[i]]);
    if (order[i] == chosen) why.chosen = i;
    if (order[i] == 0) why.rule = i;
  }
  why.reason = reason(why, !tuning.empty());
  if (!host && tuning.empty() && !settings.schedule &&
      peer_bytes(question.ranks, question.contract, nccl_api::kPeerBlocks) != 0) {
    why.note =
        "on GPUs of one host, one for each rank and joined by NVLink, auto goes over peer memory instead "
        "(docs/peer.md): this is for where it cannot, or DETCCL_PEER_BLOCKS=0";
  }
  return why;
}

std::string to_text(const Why& why) {
  const plan::tuner::Question& q = why.question;
  std::string text =
      fmt::format("{} of {} bytes of {}, contract {}, {} ranks, {} of them near each other\nfigures: {}\n",
                  plan::name(q.collective), q.bytes, contract::name(q.type), contract::to_string(q.contract),
                  q.ranks, std::min(q.group, q.ranks), why.figures);
  text += fmt::format("predicted, not measured, in us\n  {:<24}{:>12}{:>12}", "schedule", "chunk", "total");
  for (const Term& term : kTerms)
    text += fmt::format("{:>11}", term.column);
  for (std::size_t i = 0; i < why.options.size(); ++i) {
    const Option& option = why.options[i];
    text += fmt::format("\n{} {:<24}{:>12}{:>12.1f}", i == why.chosen ? '>' : ' ',
                        plan::name(option.choice.schedule), chunk_bytes(why, option),
                        option.choice.predicted * 1e6);
    for (const Term& term : kTerms)
      text += fmt::format("{:>11.1f}", option.predicted.*term.value * 1e6);
  }
  text += fmt::format("\n{}: {}\n", words(why, why.options[why.chosen]), why.reason);
  return why.note.empty() ? text : text + why.note + "\n";
}

std::string to_json(const Why& why) {
  const plan::tuner::Question& q = why.question;
  nlohmann::ordered_json object;
  object["collective"] = plan::name(q.collective);
  object["bytes"] = q.bytes;
  object["type"] = contract::name(q.type);
  object["contract"] = contract::to_string(q.contract);
  object["ranks"] = q.ranks;
  object["group"] = q.group;
  object["figures"] = why.figures;
  object["hash"] = fmt::format("{:016x}", plan::tuner::hash(why.coefficients));
  object["chosen"] = {{"schedule", plan::name(why.options[why.chosen].choice.schedule)},
                      {"chunk", chunk_bytes(why, why.options[why.chosen])},
                      {"reason", why.reason}};
  if (!why.note.empty()) object["note"] = why.note;
  for (const Option& option : why.options) {
    nlohmann::ordered_json one = {{"schedule", plan::name(option.choice.schedule)},
                                  {"chunk", chunk_bytes(why, option)},
                                  {"predicted_us", option.choice.predicted * 1e6}};
    for (const Term& term : kTerms)
      one["terms_us"][term.column] = option.predicted.*term.value * 1e6;
    object["options"].push_back(one);
  }
  return object.dump(2) + "\n";
}

}  // namespace detccl::cli
