// Four subgraphs of one graph at once, with queues between them (OSDI paper, Figure 2). Reading and
// preprocessing fill queues beside the training, and a checkpoint is written beside it, too.
//
//     lines ──▶ queue ──▶ decode ──▶ queue ──▶ batches ──▶ train ◀──▶ variables ──▶ checkpoints
//      (a runner)          (two runners)                  (each step)               (now and then)
#include <troupe/troupe.hpp>

#include <filesystem>
#include <iomanip>
#include <iostream>

using namespace troupe;

// What a file of measurements would have: y = 2 x + 1.
std::vector<std::string> lines() {
  std::vector<std::string> made;
  for (int x = -10; x < 10; ++x)
    made.push_back(std::to_string(x) + "," + std::to_string(2 * x + 1));
  return made;
}

int main() {
  graph_builder g;
  input_pipeline input{g};

  // Reading: each line once in each epoch, in another order.
  auto line = input.producer(tensor::vector(lines()), {.epochs = 100, .seed = 1});
  // Preprocessing.
  auto none = g.constant({0.0f});
  auto fields = decode_csv(line, {none, none});
  auto batch = input.shuffle_batch({fields[0] / 10.0f, fields[1] / 10.0f}, 5,
                                   {.at_once = 2,
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
                         .keep_input = true}}; // a run that is killed goes on in its data
  auto s = session::local();
  auto done = training.run(s);
  std::cout << std::fixed << std::setprecision(2);
  std::cout << done.step << " steps, then " << to_string(done.why) << '\n';
  std::cout << "y = " << to_scalar<float>(s.fetch(slope)) << " x + "
            << 10 * to_scalar<float>(s.fetch(offset)) << '\n';
  std::cout << "saved in " << std::filesystem::path{done.checkpoint}.filename().string() << '\n';
  std::filesystem::remove_all(folder);
}

// Prints:
// 400 steps, then the data ended
// y = 2.00 x + 1.00
// saved in step-400
