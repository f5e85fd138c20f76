import com.google.gson.Gson;
import com.google.gson.JsonObject;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerCredentials;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.xds.XdsServerBuilder;
import io.grpc.xds.XdsServerCredentials;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * xDS servers: one is started or stopped by each line of JSON on standard input, as those of Go (servers/go). An argument is the
 * HOST:PORT of a first one; only the port counts.
 */
public final class Server {
  private static final Metadata.Key<String> HOLD = Metadata.Key.of("x-hold", Metadata.ASCII_STRING_MARSHALLER);
  private static final ScheduledExecutorService TIMER = Executors.newScheduledThreadPool(1);

  private static void say(int tag, String mode, Object words) {
    System.out.println(new Gson().toJson(Map.of("mode", mode, "words", words == null ? "" : String.valueOf(words), "tag", tag)));
  }

  private static final MethodDescriptor.Marshaller<byte[]> RAW = new MethodDescriptor.Marshaller<>() {
    @Override public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override public byte[] parse(InputStream stream) {
      return new byte[0];
    }
  };

  /** Answers with nothing, after the seconds that the header x-hold asks for. */
  private static ServerCall.Listener<byte[]> answer(ServerCall<byte[], byte[]> call, Metadata headers) {
    String hold = headers.get(HOLD);
    long millis = hold == null ? 0 : (long) (1000 * Double.parseDouble(hold));
    call.request(1);
    return new ServerCall.Listener<byte[]>() {
      @Override public void onHalfClose() {
        if (millis == 0) {
          end();
        } else {
          TIMER.schedule(this::end, millis, TimeUnit.MILLISECONDS);
        }
      }

      private void end() {
        call.sendHeaders(new Metadata());
        call.sendMessage(new byte[0]);
        call.close(Status.OK, new Metadata());
      }
    };
  }

  private static ServerServiceDefinition service(String name, String... methods) {
    ServerServiceDefinition.Builder made = ServerServiceDefinition.builder(name);
    for (String method : methods) {
      made.addMethod(MethodDescriptor.<byte[], byte[]>newBuilder(RAW, RAW).setType(MethodDescriptor.MethodType.UNARY)
          .setFullMethodName(name + "/" + method).build(), (ServerCallHandler<byte[], byte[]>) Server::answer);
    }
    return made.build();
  }

  private static io.grpc.Server start(String listen, boolean isXds, int tag) {
    int port = Integer.parseInt(listen.substring(listen.lastIndexOf(':') + 1));
    ServerCredentials insecure = InsecureServerCredentials.create();
    try {
      io.grpc.Server server = XdsServerBuilder.forPort(port, isXds ? XdsServerCredentials.create(insecure) : insecure)
          .xdsServingStatusListener(new XdsServerBuilder.XdsServingStatusListener() {
            @Override public void onServing() {
              say(tag, "SERVING", null);
            }

            @Override public void onNotServing(Throwable why) {
              say(tag, "NOT_SERVING", why.getMessage());
            }
          }).addService(service("pkg.Service", "Method", "Other")).addService(service("admin.Console", "Delete")).build();
      // It returns when the server serves for the first time.
      Thread thread = new Thread(() -> {
        try {
          server.start();
        } catch (Exception e) {
          say(tag, "ENDED", e);
        }
      });
      thread.setDaemon(true);
      thread.start();
      return server;
    } catch (Exception e) {
      say(tag, "ENDED", e);
      return null;
    }
  }

  public static void main(String[] args) throws Exception {
    io.grpc.Server last = args.length > 0 ? start(args[0], false, 0) : null;
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = lines.readLine()) != null;) {
      JsonObject told = new Gson().fromJson(line, JsonObject.class);
      if (last != null) {
        last.shutdownNow();
        last.awaitTermination(5, TimeUnit.SECONDS);
        last = null;
      }
      int tag = told.has("tag") ? told.get("tag").getAsInt() : 0;
      if (told.has("stop")) {
        say(tag, "STOPPED", null);
      } else {
        boolean isXds = told.has("credentials") && told.get("credentials").getAsString().equals("xds");
        last = start(told.get("listen").getAsString(), isXds, tag);
      }
    }
    if (args.length == 0) {
      Runtime.getRuntime().halt(0);
    }
    Thread.currentThread().join();
  }
}
