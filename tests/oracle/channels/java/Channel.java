import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.logging.ConsoleHandler;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A gRPC client that is told what to do on standard input, one JSON line each, and answers a line each (see channels.py). */
public final class Channel {
  private static final Metadata.Key<String> SET_COOKIE = Metadata.Key.of("set-cookie", Metadata.ASCII_STRING_MARSHALLER);

  /** Bytes in, bytes out: no message is generated for the test's method. */
  private static final MethodDescriptor.Marshaller<byte[]> RAW = new MethodDescriptor.Marshaller<>() {
    @Override public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  };

  private static List<String> cookies(Metadata metadata) {
    List<String> found = new ArrayList<>();
    Iterable<String> values = metadata == null ? null : metadata.getAll(SET_COOKIE);
    if (values != null) {
      values.forEach(found::add);
    }
    return found;
  }

  private static double number(JsonObject step, String name, double fallback) {
    return step.has(name) && !step.get(name).isJsonNull() ? step.get(name).getAsDouble() : fallback;
  }

  /** What the library throws out of the call, the application gets and not the RPC. */
  private static CompletableFuture<Map<String, Object>> call(ManagedChannel channel, JsonObject step) {
    try {
      return made(channel, step);
    } catch (RuntimeException e) {
      return CompletableFuture.completedFuture(Map.of("code", "THROWN", "details", String.valueOf(e.getMessage()), "set_cookie", List.of()));
    }
  }

  private static CompletableFuture<Map<String, Object>> made(ManagedChannel channel, JsonObject step) {
    String method = step.has("method") ? step.get("method").getAsString() : "/pkg.Service/Method";
    MethodDescriptor<byte[], byte[]> descriptor = MethodDescriptor.<byte[], byte[]>newBuilder(RAW, RAW)
        .setType(MethodDescriptor.MethodType.UNARY).setFullMethodName(method.substring(1)).build();
    CallOptions options = CallOptions.DEFAULT.withDeadlineAfter((long) (1000 * number(step, "timeout", 5)), TimeUnit.MILLISECONDS);
    if (step.has("wait_for_ready") && step.get("wait_for_ready").getAsBoolean()) {
      options = options.withWaitForReady();
    }
    Metadata headers = new Metadata();
    if (step.has("headers")) {
      for (JsonElement header : step.getAsJsonArray("headers")) {
        String name = header.getAsJsonArray().get(0).getAsString();
        String value = header.getAsJsonArray().get(1).getAsString();
        if (name.endsWith("-bin")) {
          headers.put(Metadata.Key.of(name, Metadata.BINARY_BYTE_MARSHALLER), value.getBytes(StandardCharsets.UTF_8));
        } else {
          headers.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
        }
      }
    }
    CompletableFuture<Map<String, Object>> done = new CompletableFuture<>();
    ClientCall<byte[], byte[]> call = channel.newCall(descriptor, options);
    long began = System.nanoTime();
    call.start(new ClientCall.Listener<>() {
      private Metadata initial;
      private byte[] reply = new byte[0];

      @Override public void onHeaders(Metadata metadata) {
        initial = metadata;
      }

      @Override public void onMessage(byte[] message) {
        reply = message;
      }

      @Override public void onClose(Status status, Metadata trailers) {
        Map<String, Object> answer = new HashMap<>();
        answer.put("code", status.getCode().name());
        List<String> set = cookies(initial);
        if (status.isOk()) {
          answer.put("backend", new String(reply, StandardCharsets.UTF_8));
        } else {
          answer.put("details", String.valueOf(status.getDescription()));
          set.addAll(cookies(trailers));
        }
        answer.put("set_cookie", set);
        answer.put("seconds", (System.nanoTime() - began) / 1000 / 1e6);
        done.complete(answer);
      }
    }, headers);
    call.sendMessage(new byte[0]);
    call.halfClose();
    call.request(1);
    return done;
  }

  private static void logEverything() {
    Logger root = Logger.getLogger("io.grpc");
    ConsoleHandler handler = new ConsoleHandler();
    handler.setLevel(Level.ALL);
    root.addHandler(handler);
    root.setUseParentHandlers(false);
    root.setLevel(Level.ALL);
    Logger.getLogger("io.grpc.netty").setLevel(Level.INFO);
  }

  private static String version() {
    return io.grpc.internal.GrpcUtil.getGrpcBuildVersion().getImplementationVersion();
  }

  public static void main(String[] args) throws Exception {
    if (System.getenv("VERBOSE") != null) {
      logEverything();
    }
    Gson gson = new Gson();
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    ManagedChannel channel = null;
    Map<String, List<CompletableFuture<Map<String, Object>>>> underWay = new HashMap<>();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonObject message = JsonParser.parseString(line).getAsJsonObject();
      Object answer;
      if (channel == null) {
        ManagedChannelBuilder<?> builder = Grpc.newChannelBuilder(message.get("uri").getAsString(), InsecureChannelCredentials.create());
        for (JsonElement option : message.getAsJsonArray("options")) {
          JsonArray pair = option.getAsJsonArray();
          switch (pair.get(0).getAsString()) {
            case "grpc.default_authority" -> builder.overrideAuthority(pair.get(1).getAsString());
            case "grpc.client_idle_timeout_ms" -> builder.idleTimeout(pair.get(1).getAsLong(), TimeUnit.MILLISECONDS);
            case "grpc.service_config" -> builder.defaultServiceConfig(gson.fromJson(pair.get(1).getAsString(), Map.class));
            default -> { }
          }
        }
        channel = builder.build();
        answer = Map.of("client", "grpc-java " + version());
      } else if (message.has("pick")) {
        answer = call(channel, message.getAsJsonObject("pick")).get();
      } else if (message.has("begin")) {
        JsonObject step = message.getAsJsonObject("begin");
        List<CompletableFuture<Map<String, Object>>> calls = new ArrayList<>();
        for (int i = 0; i < (int) number(step, "count", 1); i++) {
          calls.add(call(channel, step));
        }
        underWay.put(message.get("name").getAsString(), calls);
        answer = Map.of();
      } else if (message.has("finish")) {
        List<Object> results = new ArrayList<>();
        for (CompletableFuture<Map<String, Object>> one : underWay.remove(message.get("finish").getAsString())) {
          results.add(one.get());
        }
        answer = results;
      } else {
        answer = Map.of("error", "unknown step");
      }
      System.out.println(gson.toJson(answer));
    }
    Runtime.getRuntime().halt(0);
  }
}
