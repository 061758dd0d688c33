// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>

#include <limits>
#include <map>
#include <sstream>

namespace trainer {
namespace {

template <typename T>
void add_choice(CLI::App& app, const char* name, T& value, const std::map<std::string, T>& choices,
                const char* help) {
  std::string names;
  for (const auto& [text, choice] : choices)
    names += (names.empty() ? "" : "|") + text;
  app.add_option_function<std::string>(
         name, [&value, choices](const std::string& text) { value = choices.at(text); }, help)
      ->check(CLI::IsMember(choices).description(""))
      ->type_name(names);
}

void add_count(CLI::App& app, const char* name, std::uint64_t& value, const char* help, std::uint64_t least) {
  app.add_option(name, value, help)
      ->check(CLI::Range(least, std::uint64_t{std::numeric_limits<std::uint32_t>::max()}).description(""))
      ->type_name("N")
      ->capture_default_str();
}

void add_options(CLI::App& app, Options& o) {
  add_count(app, "--steps", o.steps, "training steps to reach", 1);
  add_count(app, "--batch", o.batch, "images per rank and step", 1);
  add_count(app, "--seed", o.seed, "of the first weights and the order of the images", 0);
  add_count(app, "--bucket-bytes", o.bucket_bytes,
            "gradients are cut into buckets of this size, one collective each", 4);
  add_count(app, "--group", o.group, "buckets per NCCL group", 1);
  add_choice<GradientType>(app, "--gradients", o.gradients,
                           {{"float32", GradientType::float32}, {"bf16", GradientType::bf16}},
                           "type in which gradients travel [float32]");
  add_choice<Reduction>(app, "--reduce", o.reduction,
                        {{"allreduce", Reduction::all_reduce}, {"reduce-scatter", Reduction::reduce_scatter}},
                        "AllReduce of gradients, or ReduceScatter and AllGather of weights [allreduce]");
  add_choice<Average>(app, "--average", o.average, {{"sum", Average::sum}, {"avg", Average::avg}},
                      "ncclSum and a division, or ncclAvg [sum]");
  add_choice<Where>(app, "--device", o.device,
                    {{"auto", Where::automatic}, {"gpu", Where::gpu}, {"host", Where::host}},
                    "where buffers live; auto: on the GPU where there is one [auto]");
  app.add_option("--data", o.data, "the images")->type_name("FILE")->capture_default_str();
  auto* checkpoint =
      app.add_option("--checkpoint", o.checkpoint, "write checkpoints; {step} becomes the step's number");
  checkpoint->type_name("FILE");
  add_count(app, "--checkpoint-every", o.checkpoint_every,
            "steps between checkpoints; 0: only after the last", 0);
  app.get_option("--checkpoint-every")->needs(checkpoint);
  app.add_option("--resume", o.resume, "go on from a checkpoint")->type_name("FILE");
  app.add_flag("--json", o.json, "print one JSON document instead of text");
  app.add_flag("--quiet", o.quiet, "leave out the steps");
  app.set_version_flag("--version", "trainer " DETCCL_VERSION);
}

}  // namespace

Parsed parse_options(int argc, char** argv) {
  Parsed parsed;
  parsed.options.data = TRAINER_DATA;
  CLI::App app("Trains a small network on handwritten digits, data-parallel over NCCL. Start it with mpirun.",
               "trainer");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // as in other programs
  add_options(app, parsed.options);
  try {
    app.parse(argc, argv);
    parsed.run = true;
  } catch (const CLI::ParseError& e) {
    std::ostringstream out, err;
    parsed.exit_code = app.exit(e, out, err) == 0 ? 0 : 2;
    parsed.text = out.str() + err.str();
  }
  return parsed;
}

}  // namespace trainer
