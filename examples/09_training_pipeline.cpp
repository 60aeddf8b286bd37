// Four parts of one graph that run concurrently, with queues between them (OSDI paper, Figure 2).
// Reading and preprocessing fill queues in parallel with training; checkpoints are written in
// parallel.
//
//     lines ──▶ queue ──▶ decode ──▶ queue ──▶ batches ──▶ train ◀──▶ variables ──▶ checkpoints
//      (a runner)          (two runners)                  (each step)               (now and then)
#include <troupe/troupe.hpp>

#include <filesystem>
#include <iomanip>
#include <iostream>

using namespace troupe;

// Stands for a file of measurements: y = 2 x + 1.
std::vector<std::string> lines() {
  std::vector<std::string> texts;
  for (int x = -10; x < 10; ++x)
    texts.push_back(std::to_string(x) + "," + std::to_string(2 * x + 1));
  return texts;
}

int main() {
  graph_builder g;
  input_pipeline input{g};

  // Reading: each line once in each epoch, in random order.
  auto line = input.producer(tensor::vector(lines()), {.epochs = 100, .seed = 1});
  // Preprocessing.
  auto default_value = g.constant({0.0f});
  auto fields = decode_csv(line, {default_value, default_value});
  auto batch = input.shuffle_batch({fields[0] / 10.0f, fields[1] / 10.0f}, 5,
                                   {.concurrent_enqueues = 2,
                                    .capacity = 40,
                                    .min_after_dequeue = 20,
                                    .seed = 1,
                                    .shapes = {shape{}, shape{}}});
  // Training.
  auto slope = g.variable(0.0f, "slope"), offset = g.variable(0.0f, "offset");
  auto loss = mean(square(slope * batch[0] + offset - batch[1]));
  auto* train = gradient_descent{0.1f}.minimize(loss);

  auto folder = std::filesystem::temp_directory_path() / "troupe_training_pipeline";
  std::filesystem::remove_all(folder);
  training_run training{g,
                        {.loss = loss, .train = {train}},
                        {.input = &input,
                         .checkpoints = folder,
                         .checkpoint_steps = 100,
                         .save_input = true}}; // a killed run resumes at its position in the data
  auto s = session::local();
  auto report = training.run(s);
  std::cout << std::fixed << std::setprecision(2);
  std::cout << report.step << " steps, then " << to_string(report.end_reason) << '\n';
  std::cout << "y = " << to_scalar<float>(s.fetch(slope)) << " x + "
            << 10 * to_scalar<float>(s.fetch(offset)) << '\n';
  std::cout << "saved in " << std::filesystem::path{report.checkpoint}.filename().string() << '\n';
  std::filesystem::remove_all(folder);
}

// Prints:
// 400 steps, then the data ended
// y = 2.00 x + 1.00
// saved in step-400
