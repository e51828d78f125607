from declearn.optimizer.modules import ScaffoldAuxVar, ScaffoldServerModule

server = ScaffoldServerModule()
# the first round has two of four clients, whose c_i become 1
server.process_aux_var(ScaffoldAuxVar(delta=2.0, clients={"a", "b"}))
print("expected 2/4 = 0.5, got", server.collect_aux_var().state)
