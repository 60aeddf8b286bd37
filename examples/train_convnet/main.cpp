// Trains a convolutional network on images of digits: the included 8x8 digits, or MNIST.
#include "examples/support/images.hpp"
#include "examples/support/program.hpp"
#include "examples/support/progress.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

namespace {

using namespace troupe;

struct options {
  std::string data = TROUPE_EXAMPLES_DATA "/digits.csv.gz";
  int epochs = 0; // 0: a default for the data
  int64_t batch = 64, hold_back = 0;
  float learning_rate = 0.002f;
  int64_t seed = 1;
};

/// Two convolutions, each with max pooling, and two dense layers.
class network {
public:
  network(graph_builder& g, int64_t classes, int64_t height, int64_t width, int64_t seed)
      : first_{g, 1, 16, {3, 3}, {.activation = relu, .weights = initializers::he_normal(seed)}},
        second_{
            g, 16, 32, {3, 3}, {.activation = relu, .weights = initializers::he_normal(seed + 1)}},
        hidden_{g,
                32 * (height / 4) * (width / 4),
                128,
                {.activation = relu, .weights = initializers::he_normal(seed + 2)}},
        output_{g, 128, classes, {.weights = initializers::glorot_uniform(seed + 3)}} {}

  /// Returns logits for images; for training, with dropout at this rate.
  edge operator()(edge images, operand dropout_rate, int64_t seed) const {
    auto pooled = max_pool2d(first_(images), {2, 2});
    auto small = max_pool2d(second_(pooled), {2, 2});
    return output_(dropout(hidden_(flatten(small)), dropout_rate, {.seed = seed}));
  }

private:
  conv2d_layer first_, second_;
  dense_layer hidden_, output_;
};

double accuracy(session& in, edge prediction, edge images, edge rate,
                const examples::image_set& data) {
  constexpr int64_t chunk = 500;
  std::vector<int64_t> indices(static_cast<size_t>(data.count()));
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = static_cast<int64_t>(i);
  int64_t correct = 0;
  for (int64_t i = 0; i < data.count(); i += chunk) {
    auto count = std::min(chunk, data.count() - i);
    auto batch = examples::gather_images(data, indices.data() + i, count);
    auto predicted = in.fetch(prediction, {{images, batch.images}, {rate, 0.0f}});
    for (int64_t j = 0; j < count; ++j)
      correct += predicted.values<int64_t>()[static_cast<size_t>(j)] ==
                 batch.labels.values<int32_t>()[static_cast<size_t>(j)];
  }
  return static_cast<double>(correct) / static_cast<double>(data.count());
}

void run(options chosen) {
  auto image_data = examples::read_images(chosen.data);
  auto is_small = image_data.height < 16;
  if (chosen.epochs == 0)
    chosen.epochs = is_small ? 30 : 4;
  if (chosen.hold_back == 0)
    chosen.hold_back = is_small ? 5 : 10;
  auto [training, test] = examples::hold_back(image_data, chosen.hold_back);
  std::printf("%lld images of %lldx%lld to learn from, %lld held back for the test\n",
              static_cast<long long>(training.count()), static_cast<long long>(image_data.height),
              static_cast<long long>(image_data.width), static_cast<long long>(test.count()));

  graph_builder g;
  auto images = g.placeholder(dtype::f32, {-1, image_data.height, image_data.width, 1}, "images");
  auto labels = g.placeholder(dtype::i32, {-1}, "labels");
  auto rate = g.placeholder(dtype::f32, shape{}, "dropout_rate");
  auto logits = network{g, image_data.classes, image_data.height, image_data.width,
                        chosen.seed * 16}(images, rate, chosen.seed);
  auto loss = softmax_loss(logits, labels);
  auto prediction = arg_max(logits, 1);
  adam method{chosen.learning_rate};
  auto* train = method.minimize(loss);

  auto s = session::local();
  s.run(g.initializer());
  auto step = s.prepare({images, labels, rate}, {loss}, {train});
  auto batches = (training.count() + chosen.batch - 1) / chosen.batch;
  examples::progress bar{batches * chosen.epochs};
  for (int epoch = 0; epoch < chosen.epochs; ++epoch) {
    auto order =
        examples::shuffled(training.count(), static_cast<uint64_t>(chosen.seed * 1000 + epoch));
    for (int64_t i = 0; i < training.count(); i += chosen.batch) {
      auto count = std::min(chosen.batch, training.count() - i);
      auto batch = examples::gather_images(training, order.data() + i, count);
      auto results = step.run({batch.images, batch.labels, tensor::scalar(0.3f)});
      bar.step_done(to_scalar<float>(results[0]));
    }
  }
  bar.finish();
  std::printf("test accuracy %.2f %%\n", 100 * accuracy(s, prediction, images, rate, test));
}

} // namespace

int main(int argc, char** argv) {
  options chosen;
  CLI::App app{"Trains a convolutional network on images of digits", "train_convnet"};
  app.add_option("--data", chosen.data,
                 "The digits' gzipped CSV, or a folder with images and labels in MNIST's format");
  app.add_option("--epochs", chosen.epochs,
                 "Passes over the training data; 0: a default for the data")
      ->check(CLI::Range(0, 100'000));
  examples::add_count(app, "--batch", chosen.batch, "Images per step", 1, 100'000);
  app.add_option(
         "--hold-back", chosen.hold_back,
         "Holds back one of this many images for the test; 0: 5 for the digits, 10 for MNIST")
      ->check(CLI::Range(0, 1000));
  app.add_option("--learning-rate", chosen.learning_rate, "Of Adam")->capture_default_str();
  app.add_option("--seed", chosen.seed, "Of weights, order and dropout")->capture_default_str();
  return examples::run_program(app, argc, argv, [&] { run(chosen); });
}
