import com.google.common.base.Stopwatch;
import com.google.common.base.Supplier;
import com.google.gson.Gson;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.Any;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.SynchronizationContext;
import io.grpc.internal.BackoffPolicy;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.StreamHandler;

/**
 * Asks the parsers of grpc-java what they make of single resources: no network. They are internal, and not the same in all releases,
 * so they are found by reflection.
 *
 * <p>A line in: {"id", "kind": "lds|rds|cds|eds", "any_b64", "bootstrap"}. A line out: {"id", "verdict", "message"}.
 */
public final class Decoders {
  private static final Map<String, String> TYPES = Map.of("lds", "io.grpc.xds.XdsListenerResource", "rds",
      "io.grpc.xds.XdsRouteConfigureResource", "cds", "io.grpc.xds.XdsClusterResource", "eds", "io.grpc.xds.XdsEndpointResource");
  private static final Map<String, Object> BOOTSTRAPS = new HashMap<>();

  /** The first of these classes that there is. */
  private static Class<?> first(String... names) throws ClassNotFoundException {
    for (String name : names) {
      try {
        return Class.forName(name);
      } catch (ClassNotFoundException e) {
        // Another release.
      }
    }
    throw new ClassNotFoundException(String.join(", ", names));
  }

  private static Object make(Class<?> type, Object... values) throws Exception {
    for (Constructor<?> constructor : type.getDeclaredConstructors()) {
      Class<?>[] wanted = constructor.getParameterTypes();
      boolean fits = wanted.length == values.length;
      for (int i = 0; fits && i < wanted.length; i++) {
        fits = values[i] == null || wanted[i].isInstance(values[i]);
      }
      if (fits) {
        constructor.setAccessible(true);
        return constructor.newInstance(values);
      }
    }
    throw new NoSuchMethodException(type.getName());
  }

  private static Object call(Object object, Class<?> type, String name, Object... values) throws Exception {
    for (Class<?> owner = type; owner != null; owner = owner.getSuperclass()) {
      for (Method method : owner.getDeclaredMethods()) {
        Class<?>[] wanted = method.getParameterTypes();
        boolean fits = method.getName().equals(name) && wanted.length == values.length;
        for (int i = 0; fits && i < wanted.length; i++) {
          fits = wanted[i].isInstance(values[i]);
        }
        if (fits) {
          method.setAccessible(true);
          return method.invoke(object, values);
        }
      }
    }
    throw new NoSuchMethodException(type.getName() + "." + name);
  }

  private static Object field(Object object, String name) throws Exception {
    Field field = object.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(object);
  }

  private static Object bootstrap(String json) throws Exception {
    Object info = BOOTSTRAPS.get(json);
    if (info == null) {
      Class<?> type = first("io.grpc.xds.GrpcBootstrapperImpl", "io.grpc.xds.BootstrapperImpl", "io.grpc.xds.Bootstrapper");
      Object bootstrapper = type.getSimpleName().equals("Bootstrapper") ? null : make(type);
      try {
        info = call(bootstrapper, type, "bootstrap", io.grpc.internal.JsonParser.parse(json));
      } catch (NoSuchMethodException e) {
        info = call(bootstrapper, type, "parseConfig", json);
      }
      BOOTSTRAPS.put(json, info);
    }
    return info;
  }

  /** What a parser is given beside the resource: by the types of its parameters, which change between releases. */
  private static Object arguments(Object info) throws Exception {
    Constructor<?> constructor =
        first("io.grpc.xds.client.XdsResourceType$Args", "io.grpc.xds.XdsResourceType$Args").getDeclaredConstructors()[0];
    Class<?>[] wanted = constructor.getParameterTypes();
    Object[] values = new Object[wanted.length];
    for (int i = 0; i < wanted.length; i++) {
      values[i] = switch (wanted[i].getSimpleName()) {
        case "ServerInfo" -> ((List<?>) call(info, info.getClass(), "servers")).get(0);
        case "String" -> "1";
        case "BootstrapInfo" -> info;
        case "FilterRegistry" -> call(null, wanted[i], "getDefaultRegistry");
        case "LoadBalancerRegistry" -> call(null, wanted[i], "getDefaultRegistry");
        case "TlsContextManager", "Object" ->
          make(first("io.grpc.xds.internal.security.TlsContextManagerImpl", "io.grpc.xds.internal.sds.TlsContextManagerImpl"), info);
        default -> null; // the names that are subscribed to: all
      };
    }
    constructor.setAccessible(true);
    return constructor.newInstance(values);
  }

  /** Thrown where the client is about to answer the control plane. */
  private static final class Answers extends RuntimeException {}

  /** The releases before 1.43 have one server, and no stream to it here: that is where they stop. */
  private static String answer(Throwable thrown) {
    StackTraceElement[] frames = thrown == null ? new StackTraceElement[0] : thrown.getStackTrace();
    return thrown instanceof Answers ? "answers" : frames.length == 0 ? "" : frames[0].getMethodName();
  }

  private static final Object CHANNEL = Grpc.newChannelBuilder("localhost:1", InsecureChannelCredentials.create()).build();
  private static final Object TIMER = Executors.newSingleThreadScheduledExecutor();

  /** A client without a server: by the types of what it is made of, which change between releases. */
  private static Object client(Class<?> type, Object info, Supplier<Stopwatch> watches) throws Exception {
    boolean hasOneServer = type.getSuperclass().getSimpleName().equals("AbstractXdsClient");
    Constructor<?> constructor = type.getDeclaredConstructors()[0];
    Class<?>[] wanted = constructor.getParameterTypes();
    Object[] values = new Object[wanted.length];
    for (int i = 0; i < wanted.length; i++) {
      values[i] = switch (wanted[i].getSimpleName()) {
        case "BootstrapInfo" -> info;
        case "Node" -> call(info, info.getClass(), "getNode");
        case "Supplier" -> watches;
        case "TlsContextManager" -> make(Class.forName("io.grpc.xds.internal.sds.TlsContextManagerImpl"), info);
        case "boolean" -> true; // version 3 of the protocol
        case "ManagedChannel" -> hasOneServer ? CHANNEL : null;
        case "XdsChannel" -> {
          Constructor<?> channel = wanted[i].getDeclaredConstructors()[0];
          channel.setAccessible(true);
          yield channel.newInstance(CHANNEL, true);
        }
        case "Context" -> hasOneServer ? Context.ROOT : null;
        case "ScheduledExecutorService" -> hasOneServer ? TIMER : null;
        case "Provider" -> hasOneServer ? (BackoffPolicy.Provider) () -> null : null;
        default -> null;
      };
    }
    constructor.setAccessible(true);
    return constructor.newInstance(values);
  }

  /** What a client says of a response that holds one resource: the releases whose parsers are its own methods tell it in their log. */
  private static Map<String, Object> judgeByClient(String kind, Any packed, Object info) throws Exception {
    Class<?> type = Class.forName("io.grpc.xds.ClientXdsClient");
    Supplier<Stopwatch> watches = Stopwatch::createUnstarted;
    Object client = client(type, info, watches);
    // It looks at what somebody subscribed to, and answers through the channel to its server.
    Map<Object, Object> all = new HashMap<>() {
      @Override
      public boolean containsKey(Object name) {
        return true;
      }

      @Override
      public Object get(Object server) {
        throw new Answers();
      }
    };
    for (Field map : type.getDeclaredFields()) {
      if (Set.of("serverChannelMap", "cdsResourceSubscribers", "edsResourceSubscribers").contains(map.getName())) {
        map.setAccessible(true);
        map.set(client, all);
      }
    }
    StringBuilder faults = new StringBuilder();
    Handler log = new StreamHandler() {
      @Override
      public void publish(LogRecord line) {
        if (line.getMessage().contains("Failed processing")) {
          faults.append(line.getMessage());
        }
      }
    };
    Throwable[] thrown = {null};
    Logger logger = Logger.getLogger("io.grpc.xds.XdsLogger");
    logger.setLevel(Level.FINE);
    logger.setUseParentHandlers(false);
    logger.addHandler(log);
    boolean hasOneServer = type.getSuperclass().getSimpleName().equals("AbstractXdsClient");
    Object[] response = hasOneServer ? new Object[] {"1", List.of(packed), "1"}
        : new Object[] {((List<?>) call(info, info.getClass(), "servers")).get(0), "1", List.of(packed), "1"};
    Object context = hasOneServer ? call(client, type, "getSyncContext") : field(client, "syncContext");
    String name = "handle" + Character.toUpperCase(kind.charAt(0)) + kind.substring(1) + "Response";
    ((SynchronizationContext) context).execute(() -> {
      try {
        call(client, type, name, response);
      } catch (InvocationTargetException e) {
        thrown[0] = e.getCause();
      } catch (Exception e) {
        throw new AssertionError(e);
      }
    });
    logger.removeHandler(log);
    String answer = answer(thrown[0]);
    boolean answers = Set.of("answers", "ackResponse", "nackResponse").contains(answer);
    boolean rejects = faults.length() > 0 || answer.equals("nackResponse");
    return Map.of("verdict", !answers ? "CRASH" : rejects ? "NACK" : "ACK",
        "message", answers ? faults.toString() : String.valueOf(thrown[0]));
  }

  private static Map<String, Object> judge(JsonObject resource) throws Exception {
    Map<String, Object> said = new HashMap<>();
    said.put("id", resource.get("id").getAsString());
    Any packed = Any.parseFrom(Base64.getDecoder().decode(resource.get("any_b64").getAsString()));
    String kind = resource.get("kind").getAsString();
    Object info = bootstrap(resource.get("bootstrap").toString());
    Class<?> type;
    try {
      type = Class.forName(TYPES.get(kind));
    } catch (ClassNotFoundException e) {
      said.putAll(judgeByClient(kind, packed, info));
      return said;
    }
    Object arguments = arguments(info);
    try {
      Object parsed = call(call(null, type, "getInstance"), type, "parse", arguments, List.of(packed));
      List<?> errors = (List<?>) field(parsed, "errors");
      said.put("verdict", errors.isEmpty() ? "ACK" : "NACK");
      said.put("message", errors.isEmpty() ? "" : String.valueOf(errors.get(0)));
    } catch (InvocationTargetException e) {
      said.put("verdict", "CRASH");
      said.put("message", e.getCause().toString());
    }
    return said;
  }

  public static void main(String[] args) throws Exception {
    Gson gson = new Gson();
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      out.println(gson.toJson(judge(JsonParser.parseString(line).getAsJsonObject())));
    }
    out.flush();
    Runtime.getRuntime().halt(0);
  }
}
