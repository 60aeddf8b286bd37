// Layers compute their documented formulas.
#include "tests/support/catch.hpp"
#include "tests/support/thrown_errors.hpp"
#include "troupe/troupe.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace troupe::test::layers_test {

using Catch::Matchers::Contains;

namespace {

std::vector<float> floats(const tensor& input) {
  return {input.values<float>().begin(), input.values<float>().end()};
}

tensor counting(const shape& dims, float step = 0.1f) {
  std::vector<float> values(static_cast<size_t>(dims.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<float>(i) * step * 7);
  return tensor::from_values(dims, values);
}

void check_equal(const tensor& a, const tensor& b, double margin = 1e-5) {
  REQUIRE(a.dims() == b.dims());
  for (size_t i = 0; i < a.values<float>().size(); ++i)
    CHECK(a.values<float>()[i] == Approx(b.values<float>()[i]).margin(margin));
}

} // namespace

TEST_CASE("a dense layer accepts matrices and more axes, and shares its variables") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 3}, "x");
  auto cube = g.placeholder(dtype::f32, {-1, -1, 3}, "cube");
  dense_layer layer{g,
                    3,
                    2,
                    {.activation = relu,
                     .weights = initializers::he_normal(1),
                     .biases = initializers::constant(0.1)}};
  CHECK(layer.weights.name() == "dense/weights");
  auto y = layer(x), z = layer(cube), expected = relu(matmul(x, layer.weights) + *layer.biases);
  auto s = session::local();
  s.run(g.initializer());
  auto values = counting({4, 3});
  check_equal(s.fetch(y, {{x, values}}), s.fetch(expected, {{x, values}}));
  auto cube_values = s.fetch(z, {{cube, values.reshaped({2, 2, 3})}});
  CHECK(cube_values.dims() == shape{2, 2, 2});
  check_equal(cube_values.reshaped({4, 2}), s.fetch(y, {{x, values}}));
  CHECK_THROWS_WITH(dense(g, g.placeholder(dtype::f32, {-1, -1}), 2),
                    Catch::Contains("last extent"));
}

TEST_CASE("convolution, pooling and flatten have the expected shapes and values") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 4, 4, 1}, "x");
  auto y = conv2d(g, x, 2, {3, 3}, {.bias = false, .weights = initializers::ones()});
  auto small = max_pool2d(x, {2, 2}), averages = avg_pool2d(x, {2, 2}), flat = flatten(small);
  CHECK(flat.dims() == partial_shape{-1, 4});
  std::vector<float> pixels(16);
  std::iota(pixels.begin(), pixels.end(), 0.0f);
  auto s = session::local();
  s.run(g.initializer());
  auto image = tensor::from_values({1, 4, 4, 1}, pixels);
  auto sums = s.fetch(y, {{x, image}});
  CHECK(sums.dims() == shape{1, 4, 4, 2});
  CHECK(floats(sums)[0] == 0 + 1 + 4 + 5);
  CHECK(floats(sums)[10] == 0 + 1 + 2 + 4 + 5 + 6 + 8 + 9 + 10); // at (1, 1)
  CHECK(floats(s.fetch(flat, {{x, image}})) == std::vector{5.0f, 7.0f, 13.0f, 15.0f});
  CHECK(floats(s.fetch(averages, {{x, image}})) == std::vector{2.5f, 4.5f, 10.5f, 12.5f});
}

TEST_CASE(
    "batch norm normalizes by the batch during training, and by its moving averages afterwards") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 2}, "x");
  batch_norm_layer norm{g, 2, {.momentum = 0.5, .epsilon = 0}};
  auto trained = norm(x, true), used = norm(x, false);
  auto s = session::local();
  s.run(g.initializer());
  auto values = tensor::from_values<float>({2, 2}, {1, 10, 3, 30});
  CHECK(floats(s.fetch(trained, {{x, values}})) == std::vector{-1.0f, -1.0f, 1.0f, 1.0f});
  CHECK(floats(s.fetch(norm.moving_mean)) == std::vector{1.0f, 10.0f}); // half way from 0
  auto variance = floats(s.fetch(norm.moving_variance));
  CHECK(variance[0] == Approx(1.5)); // of samples: 2
  CHECK(floats(s.fetch(used, {{x, values}}))[2] == Approx(2 / std::sqrt(1.5)));
}

TEST_CASE("dropout drops about its rate, and keeps the mean") {
  graph_builder g;
  auto rate = g.placeholder(dtype::f32, shape{}, "rate");
  auto y = dropout(fill(g, {10'000}, 1.0f), rate, {.seed = 3});
  auto s = session::local();
  auto values = floats(s.fetch(y, {{rate, 0.25f}}));
  auto zeros = std::ranges::count(values, 0.0f);
  CHECK(zeros > 2300);
  CHECK(zeros < 2700);
  CHECK(std::ranges::count(values, 1 / 0.75f) == 10'000 - zeros);
  auto kept_values = floats(s.fetch(y, {{rate, 0.0f}}));
  CHECK(std::ranges::count(kept_values, 1.0f) == 10'000);
  auto dropped_values = floats(s.fetch(y, {{rate, 1.0f}}));
  CHECK(std::ranges::count(dropped_values, 0.0f) == 10'000);
  auto by_number = floats(s.fetch(dropout(fill(g, {10'000}, 1.0f), 0.25, {.seed = 3})));
  CHECK(by_number == values);
  CHECK_THROWS_AS(dropout(fill(g, {2}, 1.0f), 1.0), error);
}

TEST_CASE("a partitioned embedding table equals one in a single part") {
  graph_builder g;
  auto numbers = g.placeholder(dtype::i32, {-1, 2}, "numbers");
  auto rows = counting({7, 3});
  auto from_rows = [&](int64_t parts) {
    return [&, parts, next = int64_t{0}](graph_builder& builder, const shape& dims, dtype,
                                         std::source_location) mutable -> edge {
      std::vector<float> part;
      for (auto row = next++; row < 7; row += parts)
        for (int64_t i = 0; i < 3; ++i)
          part.push_back(rows.values<float>()[static_cast<size_t>(row * 3 + i)]);
      return builder.constant(tensor::from_values(dims, part));
    };
  };
  embedding_table table{g, 7, 3, {.values = from_rows(1)}};
  embedding_table three{
      g,
      7,
      3,
      {.devices = {"/cpu:0", "/cpu:0", "/cpu:0"}, .values = from_rows(3), .name = "three"}};
  REQUIRE(three.parts().size() == 3);
  CHECK(three.parts()[0].dims() == partial_shape{3, 3});
  CHECK(three.parts()[2].dims() == partial_shape{2, 3});
  auto weights = g.constant(counting({3, 2, 3}, 0.3f));
  auto a = table(numbers), b = three(numbers);
  auto gradient = g.gradients(sum(a * weights), {table.parts()[0]});
  std::vector<edge> parts(three.parts().begin(), three.parts().end());
  auto gradients = g.gradients(sum(b * weights), parts);
  auto s = session::local();
  s.run(g.initializer());
  std::vector<feed> chosen{{numbers, tensor::from_values<int32_t>({3, 2}, {6, 0, 1, 1, 5, 6})}};
  check_equal(s.fetch(a, chosen), s.fetch(b, chosen));
  auto whole_gradient = s.fetch(gradient[0], chosen);
  for (int64_t part = 0; part < 3; ++part) {
    auto slice_gradient = s.fetch(gradients[static_cast<size_t>(part)], chosen);
    for (int64_t row = part; row < 7; row += 3)
      for (int64_t i = 0; i < 3; ++i)
        CHECK(
            slice_gradient.values<float>()[static_cast<size_t>(row / 3 * 3 + i)] ==
            Approx(whole_gradient.values<float>()[static_cast<size_t>(row * 3 + i)]).margin(1e-6));
  }
  CHECK_THROWS_AS(s.fetch(b, {{numbers, tensor::from_values<int32_t>({1, 2}, {7, 0})}}), error);
}

TEST_CASE("initializers have their documented spread") {
  graph_builder g;
  auto deviation = [&](const initializer& initial, const shape& dims) {
    auto x = initial(g, dims, dtype::f32, std::source_location::current());
    auto values = floats(session::local().fetch(x));
    double sum = 0;
    for (auto number : values)
      sum += number * number;
    return std::sqrt(sum / static_cast<double>(values.size()));
  };
  CHECK(deviation(initializers::glorot_uniform(1), {100, 300}) ==
        Approx(std::sqrt(2.0 / 400)).epsilon(0.02));
  CHECK(deviation(initializers::glorot_normal(1), {100, 300}) ==
        Approx(std::sqrt(2.0 / 400)).epsilon(0.02));
  CHECK(deviation(initializers::he_normal(1), {3, 3, 20, 50}) ==
        Approx(std::sqrt(2.0 / 180)).epsilon(0.03));
  CHECK(deviation(initializers::lecun_normal(1), {200, 100}) ==
        Approx(std::sqrt(1.0 / 200)).epsilon(0.02));
  CHECK(deviation(initializers::uniform(-1, 1, 1), {10'000}) ==
        Approx(std::sqrt(1.0 / 3)).epsilon(0.02));
  CHECK(deviation(initializers::identity(2), {2, 2}) == Approx(std::sqrt(2.0)));
  for (auto dims : {shape{6, 4}, shape{4, 6}}) {
    auto q = initializers::orthogonal(1, 5)(g, dims, dtype::f32, std::source_location::current());
    auto product = dims[0] > dims[1] ? matmul(q, q, {.transpose_a = true})
                                     : matmul(q, q, {.transpose_b = true});
    auto result = floats(session::local().fetch(product));
    for (size_t i = 0; i < 16; ++i)
      CHECK(result[i] == Approx(i % 5 == 0 ? 1 : 0).margin(1e-5));
  }
}

TEST_CASE("losses equal their formulas") {
  graph_builder g;
  auto x = g.constant({1.0f, -2.0f, 0.5f}), z = g.constant({0.0f, 1.0f, 1.0f});
  auto s = session::local();
  auto value = [&](edge variable) { return to_scalar<float>(s.fetch(variable)); };
  auto sigmoid_terms =
      std::log1p(std::exp(1.0)) + std::log1p(std::exp(2.0)) + std::log1p(std::exp(-0.5));
  CHECK(value(sigmoid_loss(x, z)) == Approx(sigmoid_terms / 3));
  CHECK(value(mean_squared_error(x, z)) == Approx((1 + 9 + 0.25) / 3));
  CHECK(value(mean_squared_error(x, z, {.weights = operand{1.0f, 0.0f, 2.0f}})) ==
        Approx((1 + 0.5) / 2));
  CHECK(value(mean_absolute_error(x, z)) == Approx((1 + 3 + 0.5) / 3));
  CHECK(value(huber_loss(x, z)) == Approx((0.5 + 2.5 + 0.125) / 3));
  CHECK(value(hinge_loss(x, z)) == Approx((2 + 3 + 0.5) / 3));
  auto p = g.constant({0.5f, 0.5f, 0.0f}), q = g.constant({0.25f, 0.5f, 0.25f});
  CHECK(value(kl_divergence_loss(p, q)) == Approx(0.5 * std::log(2.0)));
  auto logits = g.constant(tensor::from_values<float>({2, 2}, {0, 0, 1, 3}));
  CHECK(value(softmax_loss(logits, {0, 1})) ==
        Approx((std::log(2.0) + std::log1p(std::exp(-2.0))) / 2));
  CHECK(value(l2_penalty({x, z}, 0.5)) == Approx(0.5 * (5.25 + 2) / 2));
}

TEST_CASE("a confusion matrix refuses classes that it does not have") {
  graph_builder g;
  auto guess = g.placeholder(dtype::i64, {-1}, "guess"),
       label = g.placeholder(dtype::i64, {-1}, "label");
  auto table = metrics::confusion_matrix(g, guess, label, 3);
  auto s = session::local();
  s.run(g.initializer());
  auto outcome = [&](std::initializer_list<int64_t> guesses,
                     std::initializer_list<int64_t> labels) {
    return error_text_of([&] {
      s.run({{guess, tensor::vector<int64_t>(guesses)}, {label, tensor::vector<int64_t>(labels)}},
            {}, {table.update});
    });
  };
  for (const auto& text :
       {outcome({0, 3}, {0, 1}), outcome({0, -1}, {0, 1}), outcome({0}, {3}), outcome({0}, {-1})}) {
    CHECK_THAT(text, Contains("invalid_argument"));
    CHECK_THAT(text, Contains("must be at least 0 and less than 3"));
  }
  auto counts = s.fetch(table.value);
  CHECK(std::ranges::all_of(counts.values<int64_t>(), [](int64_t count) { return count == 0; }));
}

TEST_CASE("metrics count over steps") {
  graph_builder g;
  auto guess = g.placeholder(dtype::i64, {-1}, "guess"),
       label = g.placeholder(dtype::i64, {-1}, "label");
  auto accuracy = metrics::accuracy(g, guess, label);
  auto table = metrics::confusion_matrix(g, guess, label, 3);
  auto precision_metric = metrics::precision(g, equal(guess, int64_t{1}), equal(label, int64_t{1}));
  auto caught = metrics::recall(g, equal(guess, int64_t{1}), equal(label, int64_t{1}));
  auto scores = g.placeholder(dtype::f32, {-1}, "scores");
  auto area = metrics::auc(g, scores, equal(label, int64_t{1}));
  auto s = session::local();
  s.run(g.initializer());
  auto step = [&](std::initializer_list<int64_t> guesses, std::initializer_list<int64_t> labels) {
    s.run({{guess, tensor::vector<int64_t>(guesses)}, {label, tensor::vector<int64_t>(labels)}}, {},
          {accuracy.update, table.update, precision_metric.update, caught.update});
  };
  CHECK(to_scalar<double>(s.fetch(accuracy.value)) == 0);
  step({0, 1, 2}, {0, 1, 1});
  step({1}, {0});
  CHECK(to_scalar<double>(s.fetch(accuracy.value)) == Approx(0.5));
  CHECK(to_scalar<double>(s.fetch(precision_metric.value)) == Approx(0.5));
  CHECK(to_scalar<double>(s.fetch(caught.value)) == Approx(0.5));
  auto count_table = s.fetch(table.value);
  CHECK(count_table.values<int64_t>()[0 * 3 + 1] == 1);
  CHECK(count_table.values<int64_t>()[1 * 3 + 2] == 1);
  s.run(accuracy.reset);
  CHECK(to_scalar<double>(s.fetch(accuracy.value)) == 0);
  s.run({{scores, tensor::vector<float>({0.1f, 0.4f, 0.35f, 0.8f})},
         {label, tensor::vector<int64_t>({0, 0, 1, 1})}},
        {}, {area.update});
  CHECK(to_scalar<double>(s.fetch(area.value)) == Approx(0.75).margin(0.01));
}

namespace {

// Predictions for three rows, and labels of an integer type.
struct labelled_batch {
  explicit labelled_batch(dtype label_type) : type(label_type) {}

  edge integers(const std::vector<int32_t>& values) {
    return cast(g.constant(tensor::vector(values)), type);
  }

  dtype type;
  graph_builder g;
  edge logits = g.constant(tensor::from_values<float>({3, 2}, {2, 1, 0, 3, 1, 0}));
  edge scores = g.constant(tensor::from_values<float>({3}, {0.9f, 0.2f, 0.6f}));
  edge classes = integers({0, 1, 1}), labels_seen = integers({1, 0, 1});
  edge guess = arg_max(logits, -1); // i64: 0, 1, 0
  session s = session::local();
};

} // namespace

TEST_CASE("losses accept labels of integer types, as edges and literals") {
  for (auto type : {dtype::i32, dtype::i64, dtype::u8}) {
    CAPTURE(type);
    labelled_batch batch{type};
    auto real = cast(batch.labels_seen, dtype::f32);
    auto are_equal = [&](edge a, edge b) {
      CHECK(to_scalar<float>(batch.s.fetch(a)) == Approx(to_scalar<float>(batch.s.fetch(b))));
    };
    are_equal(sigmoid_loss(batch.scores, batch.labels_seen), sigmoid_loss(batch.scores, real));
    are_equal(sum(sigmoid_cross_entropy(batch.scores, batch.labels_seen)),
              sum(sigmoid_cross_entropy(batch.scores, real)));
    are_equal(mean_squared_error(batch.scores, batch.labels_seen),
              mean_squared_error(batch.scores, real));
    are_equal(mean_absolute_error(batch.scores, batch.labels_seen),
              mean_absolute_error(batch.scores, real));
    are_equal(huber_loss(batch.scores, batch.labels_seen, 0.5),
              huber_loss(batch.scores, real, 0.5));
    are_equal(hinge_loss(batch.scores, batch.labels_seen), hinge_loss(batch.scores, real));
    are_equal(kl_divergence_loss(batch.scores, batch.integers({1, 1, 1})),
              kl_divergence_loss(batch.scores,
                                 batch.g.constant(tensor::from_values<float>({3}, {1, 1, 1}))));
    are_equal(weighted_mean(batch.scores, {.weights = operand{batch.labels_seen}}),
              weighted_mean(batch.scores, {.weights = operand{real}}));
    if (type != dtype::u8) { // class indices
      are_equal(softmax_loss(batch.logits, batch.classes), softmax_loss(batch.logits, {0, 1, 1}));
      embedding_table table{batch.g, 30, 2};
      auto biases = batch.g.variable(tensor::from_values({30}, std::vector<float>(30)));
      CHECK(nce_loss(table, biases, batch.logits, batch.classes).dims() == partial_shape{3});
      CHECK(sampled_softmax_loss(table, biases, batch.logits, batch.classes).type() == dtype::f32);
    }
  }
}

TEST_CASE("metrics accept labels of integer types, as edges, tensors and literals") {
  for (auto type : {dtype::i32, dtype::i64, dtype::u8}) {
    CAPTURE(type);
    labelled_batch batch{type};
    struct expected {
      metric measured;
      double value;
    };
    std::vector<expected> cases{
        {metrics::accuracy(batch.g, batch.guess, batch.classes), 2 / 3.0},
        {metrics::accuracy(batch.g, cast(batch.guess, dtype::i32), batch.classes), 2 / 3.0},
        {metrics::accuracy(batch.g, batch.scores > 0.5, batch.labels_seen), 1},
        {metrics::accuracy(batch.g, batch.guess, {0, 1, 1}), 2 / 3.0},
        {metrics::accuracy(batch.g, batch.guess, tensor::from_values<int32_t>({3}, {0, 1, 1})),
         2 / 3.0},
        {metrics::precision(batch.g, batch.guess, batch.classes), 1},
        {metrics::precision(batch.g, batch.scores > 0.1, batch.labels_seen), 2 / 3.0},
        {metrics::recall(batch.g, batch.guess, batch.classes), 0.5},
        {metrics::recall(batch.g, batch.scores > 0.5, batch.labels_seen), 1},
        {metrics::mean_squared_error(batch.g, batch.scores, batch.labels_seen),
         (0.01 + 0.04 + 0.16) / 3},
        {metrics::mean(batch.g, batch.labels_seen), 2 / 3.0},
        {metrics::auc(batch.g, batch.scores, batch.labels_seen), 1},
        {metrics::auc(batch.g, batch.scores, tensor::from_values<int64_t>({3}, {1, 0, 1})), 1},
    };
    if (type != dtype::u8)
      cases.push_back({metrics::top_k_accuracy(batch.g, batch.logits, batch.classes, 1), 2 / 3.0});
    auto table = metrics::confusion_matrix(batch.g, batch.guess, batch.classes, 2);
    batch.s.run(batch.g.initializer());
    batch.s.run(table.update);
    for (size_t i = 0; i < cases.size(); ++i) {
      CAPTURE(i);
      CHECK(cases[i].measured.value.type() == dtype::f64);
      batch.s.run(cases[i].measured.update);
      CHECK(to_scalar<double>(batch.s.fetch(cases[i].measured.value)) ==
            Approx(cases[i].value).margin(0.01));
    }
    CHECK(
        identical(batch.s.fetch(table.value), tensor::from_values<int64_t>({2, 2}, {1, 0, 1, 1})));
  }
}

TEST_CASE("losses are finite for the largest logits, and 0 where no element counts") {
  graph_builder g;
  auto x = g.constant({3e38f, -3e38f, 3e38f, -3e38f, 100.0f});
  auto z = g.constant({1.0f, 0.0f, 0.0f, 1.0f, 1.0f});
  auto losses = sigmoid_cross_entropy(x, z);
  auto s = session::local();
  auto gradients = s.run({}, {losses, g.gradients(losses, {x})[0]});
  CHECK(floats(gradients[0])[0] == 0);
  CHECK(floats(gradients[0])[1] == 0);
  CHECK(floats(gradients[0])[2] == Approx(3e38f));
  CHECK(floats(gradients[0])[3] == Approx(3e38f));
  for (const auto& value : floats(gradients[1]))
    CHECK(std::isfinite(value));
  auto zero_weights = loss_options{.weights = operand{0.0f, 0.0f, 0.0f, 0.0f, 0.0f}};
  auto p = g.constant({1.0f, 0.0f}), q = g.constant({1.0f, 0.0f});
  for (auto loss :
       {mean_squared_error(z, z * 2.0f, zero_weights), huber_loss(z, z * 2.0f, 1, zero_weights),
        weighted_mean(z, zero_weights), kl_divergence_loss(p, q)})
    CHECK(to_scalar<float>(s.fetch(loss)) == 0);
}

TEST_CASE("metrics are 0 before the first count, and where nothing of their class occurred") {
  graph_builder g;
  auto no_positives = greater(g.constant(tensor::vector(std::vector<float>(3))), 0.5f);
  auto precision_metric = metrics::precision(g, no_positives, no_positives),
       caught = metrics::recall(g, no_positives, no_positives);
  auto x = g.constant({1.0f, 2.0f});
  auto mean = metrics::mean(g, x), error = metrics::mean_squared_error(g, x, x * 0.0f);
  auto area = metrics::auc(g, g.constant({0.5f, 0.5f, 0.5f}), no_positives);
  auto s = session::local();
  s.run(g.initializer());
  auto value = [&](const metric& measured) { return to_scalar<double>(s.fetch(measured.value)); };
  for (const auto* measured_metric : {&precision_metric, &caught, &mean, &error})
    CHECK(value(*measured_metric) == 0);
  s.run({}, {}, {precision_metric.update, caught.update, area.update, mean.update, error.update});
  CHECK(value(precision_metric) == 0);
  CHECK(value(caught) == 0);
  CHECK(std::isfinite(value(area)));
  CHECK(value(mean) == Approx(1.5));
  CHECK(value(error) == Approx(2.5));
  s.run({}, {}, {mean.reset, error.reset});
  CHECK(value(mean) == 0);
  CHECK(value(error) == 0);
}

TEST_CASE("an LSTM and a GRU over a sequence equal their single steps, and train") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {3, 2, 4}, "x");
  lstm_layer lstm{g, 4, 5, {.peephole = true, .weights = initializers::glorot_uniform(1)}};
  gru_layer gru{g, 4, 5, {.weights = initializers::glorot_uniform(2)}};
  auto outputs = lstm(x);
  auto steps = unpack(x, 3);
  auto state = lstm.zeros(steps[0]);
  auto gru_all = gru(x);
  auto gru_state = gru.zeros(steps[0]);
  for (const auto& timestep : steps) {
    state = lstm.step(timestep, state);
    gru_state = gru.step(timestep, gru_state);
  }
  auto gru_last = unpack(gru_all, 3)[2];
  auto loss = sum(square(outputs.outputs)) + sum(square(gru_all));
  auto* train = gradient_descent{0.2f}.minimize(loss);
  auto s = session::local();
  s.run(g.initializer());
  std::vector<feed> data{{x, counting({3, 2, 4})}};
  check_equal(s.fetch(outputs.last.output, data), s.fetch(state.output, data));
  check_equal(s.fetch(outputs.last.cells, data), s.fetch(state.cells, data));
  check_equal(s.fetch(gru_last, data), s.fetch(gru_state, data));
  auto before = to_scalar<float>(s.fetch(loss, data));
  for (int i = 0; i < 20; ++i)
    s.run(train, data);
  CHECK(to_scalar<float>(s.fetch(loss, data)) < before / 2);
}

TEST_CASE("sampled losses train towards the same result as full losses") {
  for (bool contrastive : {true, false}) {
    graph_builder g;
    auto x = g.placeholder(dtype::f32, {-1, 4}, "x");
    auto label = g.placeholder(dtype::i64, {-1}, "label");
    embedding_table weights{g, 20, 4, {.values = initializers::zeros()}};
    auto biases = g.variable(fill(g, {20}, 0.0f), "biases");
    sampling_options options{.sampled = 8, .seed = 7};
    auto losses = contrastive ? nce_loss(weights, biases, x, label, options)
                              : sampled_softmax_loss(weights, biases, x, label, options);
    auto* train = gradient_descent{0.5f}.minimize(mean(losses));
    auto guess = arg_max(matmul(x, weights.parts()[0], {.transpose_b = true}) + biases, 1);
    auto s = session::local();
    s.run(g.initializer());
    std::vector<feed> data{
        {x, tensor::from_values<float>({4, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1})},
        {label, tensor::vector<int64_t>({3, 0, 17, 9})}};
    for (int i = 0; i < 300; ++i)
      s.run(train, data);
    auto result = s.fetch(guess, data);
    CAPTURE(contrastive);
    CHECK(std::ranges::equal(result.values<int64_t>(), std::vector<int64_t>{3, 0, 17, 9}));
  }
}

} // namespace troupe::test::layers_test
